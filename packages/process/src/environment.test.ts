import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readCredential, readServerConfig } from './environment.js';

const DATABASE_URL = 'postgres://rowcall:secret@db.example/rowcall';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'rowcall-process-'));
  for (const name of Object.keys(process.env)) {
    if (/^(ROWCALL_|DATABASE_URL|TEST_DATABASE_URL)/.test(name)) vi.stubEnv(name, undefined);
  }
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

function writeSecret(name: string, text: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
}

describe('a credential', () => {
  it('is the value of its variable', () => {
    vi.stubEnv('WEATHER_TOKEN', 'from the variable');
    vi.stubEnv('WEATHER_TOKEN_FILE', writeSecret('token', 'from the file\n'));
    expect(readCredential('WEATHER_TOKEN')).toBe('from the variable');
  });

  it('else comes from its file, read anew each time, without the newline at its end', () => {
    vi.stubEnv('WEATHER_TOKEN', '');
    vi.stubEnv('WEATHER_TOKEN_FILE', writeSecret('token', 'first\n'));
    expect(readCredential('WEATHER_TOKEN')).toBe('first');
    writeSecret('token', 'rotated\n');
    expect(readCredential('WEATHER_TOKEN')).toBe('rotated');
  });

  it('that is nowhere is undefined', () => {
    expect(readCredential('WEATHER_TOKEN')).toBeUndefined();
  });
});

describe('the configuration of a process without a database of its own', () => {
  it('takes the address from the file that DATABASE_URL_FILE names', () => {
    vi.stubEnv('DATABASE_URL_FILE', writeSecret('database-url', `${DATABASE_URL}\n`));
    expect(readServerConfig().databaseUrl).toBe(DATABASE_URL);
  });

  it('names DATABASE_URL when it is not set', () => {
    expect(() => readServerConfig()).toThrow(/DATABASE_URL is not set/);
  });

  it('names the file that cannot be read, together with other problems', () => {
    vi.stubEnv('DATABASE_URL_FILE', path.join(folder, 'missing'));
    vi.stubEnv('ROWCALL_PORT', 'many');
    expect(() => readServerConfig()).toThrow(/DATABASE_URL_FILE cannot be read[\s\S]*ROWCALL_PORT/);
  });
});
