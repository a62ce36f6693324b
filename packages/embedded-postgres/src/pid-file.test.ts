import { expect, test } from 'vitest';
import { parseLastPort, parsePidFile } from './pid-file.js';

const RUNNING = '4711\n/data\n1796062589\n54321\n\n127.0.0.1\n  1234567   98765\nready   \n';

test('reads process id, port and status of a running server', () => {
  expect(parsePidFile(RUNNING)).toEqual({ pid: 4711, port: 54321, ready: true });
  expect(parsePidFile(RUNNING.replace('ready', 'stopping'))).toEqual({ pid: 4711, port: 54321, ready: false });
});

test('reads the short file of a server that has just begun, and the minus sign of a standalone one', () => {
  expect(parsePidFile('4711\n/data\n')).toEqual({ pid: 4711, port: undefined, ready: false });
  expect(parsePidFile('-4711\n/data\n')).toMatchObject({ pid: 4711 });
});

test('finds nothing in a file that names no process', () => {
  for (const text of ['', '\n', 'abc\n', '0\n', '1.5\n']) expect(parsePidFile(text)).toBeUndefined();
});

test('finds the port of the last run in the options that Postgres leaves behind', () => {
  expect(parseLastPort('/x/postgres "-D" "/data" "-p" "54321" "-c" "fsync=on"\n')).toBe(54321);
  for (const text of ['', '/x/postgres "-D" "/data"', '"-p" "70000"']) expect(parseLastPort(text)).toBeUndefined();
});
