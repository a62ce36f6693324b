import { expect, test } from 'vitest';
import { toLaunchPlan, toPostgresArguments } from './options.js';

test('refuses settings that would open the server, and names that are none', () => {
  for (const name of ['listen_addresses', 'unix_socket_directories', 'hba_file', 'port']) {
    expect(() => toLaunchPlan({ dir: '/d', settings: { [name]: 'x' } })).toThrow(`setting "${name}" is fixed`);
  }
  expect(() => toLaunchPlan({ dir: '/d', settings: { 'a=b': '1' } })).toThrow('not a Postgres setting name');
});

test('refuses database names that are reserved or need quoting', () => {
  for (const database of ['postgres', 'template1', '', 'Upper', 'a"b', 'a b', 'x'.repeat(64)]) {
    expect(() => toLaunchPlan({ dir: '/d', database })).toThrow(`database name "${database}" is not usable`);
  }
});

test('refuses ports that are none, and an empty folder name', () => {
  for (const port of [0, -1, 65_536, 1.5, Number.NaN]) expect(() => toLaunchPlan({ dir: '/d', port })).toThrow('port');
  expect(() => toLaunchPlan({ dir: ' ' })).toThrow('dir is empty');
});

test('syncs to disk unless ephemeral, and always ends with the fixed settings', () => {
  const args = toPostgresArguments(toLaunchPlan({ dir: '/d', settings: { max_connections: '50' } }), 5000);
  expect(args.slice(0, 4)).toEqual(['-D', '/d', '-p', '5000']);
  expect(args).toEqual(expect.arrayContaining(['fsync=on', 'synchronous_commit=on', 'max_connections=50']));
  expect(args).not.toContain('max_connections=200');
  expect(args.indexOf('listen_addresses=127.0.0.1')).toBeGreaterThan(args.indexOf('max_connections=50'));
  const ephemeral = toPostgresArguments(toLaunchPlan({ dir: '/d', ephemeral: true }), 5000);
  expect(ephemeral).toEqual(expect.arrayContaining(['fsync=off', 'full_page_writes=off', 'max_connections=200']));
});
