import { execFile } from 'node:child_process';
import { timingSafeEqual } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { ConfigError } from '@rowcall/config';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeDataDir } from './data-dir.js';
import { buildKeyCheck, loadOwnerKey } from './owner-key.js';
import { provideSecretKey } from './secret-key.js';

vi.mock('node:crypto', { spy: true });

let parent: string;
let dataDir: string;
beforeEach(() => {
  parent = mkdtempSync(path.join(tmpdir(), 'rowcall-process-'));
  dataDir = path.join(parent, 'new/data');
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const modeOf = (file: string): number => statSync(file).mode & 0o777;

describe('the secret key', () => {
  it('is made once, for its owner alone, and given to the processes as a file', () => {
    const file = path.join(dataDir, 'secret-key');
    expect(provideSecretKey(undefined, dataDir)).toEqual({ ROWCALL_SECRET_KEY_FILE: file });
    const key = readFileSync(file, 'utf8');
    expect(key).toMatch(/^rowcall_[A-Za-z0-9_-]{43}\n$/);
    expect(modeOf(file)).toBe(0o600);
    provideSecretKey(undefined, dataDir);
    expect(readFileSync(file, 'utf8')).toBe(key);
  });

  it('that was set is taken as it is, and nothing is written', () => {
    expect(provideSecretKey('given-by-the-owner', dataDir)).toEqual({});
    expect(readdirSync(parent)).toEqual([]);
  });
});

describe('the owner key', () => {
  it('is made once, for its owner alone, and kept', () => {
    const key = loadOwnerKey(undefined, dataDir);
    expect(key).toMatch(/^rowcall_[A-Za-z0-9_-]{43}$/);
    expect(loadOwnerKey(undefined, dataDir)).toBe(key);
    expect(modeOf(dataDir)).toBe(0o700);
    expect(modeOf(path.join(dataDir, 'owner-key'))).toBe(0o600);
    expect(readdirSync(dataDir)).toEqual(['owner-key']);
  });

  it('that was set is taken as it is, and nothing is written', () => {
    expect(loadOwnerKey('given-by-the-owner', dataDir)).toBe('given-by-the-owner');
    expect(readdirSync(parent)).toEqual([]);
  });

  it('is one and whole for processes that start together', async () => {
    const index = path.resolve(import.meta.dirname, '../dist/index.js');
    const program = `const { loadOwnerKey } = await import(${JSON.stringify(index)});
      while (Date.now() < ${Date.now() + 1_500});
      process.stdout.write(loadOwnerKey(undefined, ${JSON.stringify(dataDir)}));`;
    const run = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    const keys = (await Promise.all([run(), run(), run(), run()])).map(({ stdout }) => stdout);
    const kept = readFileSync(path.join(dataDir, 'owner-key'), 'utf8').trim();
    expect(keys).toEqual([kept, kept, kept, kept]);
    expect(kept).toMatch(/^rowcall_/);
  });

  it('of an empty file is refused, since anyone could present it', () => {
    loadOwnerKey(undefined, dataDir);
    writeFileSync(path.join(dataDir, 'owner-key'), '\n');
    expect(() => loadOwnerKey(undefined, dataDir)).toThrow(ConfigError);
    expect(() => loadOwnerKey(undefined, dataDir)).toThrow(/owner-key holds no key.*ROWCALL_OWNER_KEY/);
  });

  it('is read from a folder that nobody may write', () => {
    const key = loadOwnerKey(undefined, dataDir);
    chmodSync(dataDir, 0o500);
    expect(loadOwnerKey(undefined, dataDir)).toBe(key);
    chmodSync(dataDir, 0o700);
  });

  it('is refused with its name when it cannot be read', () => {
    mkdirSync(path.join(dataDir, 'owner-key'), { recursive: true });
    expect(() => loadOwnerKey(undefined, dataDir)).toThrow(/owner-key cannot be read \(EISDIR\).*ROWCALL_OWNER_KEY/);
  });

  it('is refused with the name of the folder when that cannot be made', () => {
    writeFileSync(path.join(parent, 'new'), 'a file');
    expect(() => makeDataDir(dataDir)).toThrow(ConfigError);
    expect(() => makeDataDir(dataDir)).toThrow(/ROWCALL_DATA_DIR .*new\/data cannot be made or written \(ENOTDIR\)/);
    expect(() => loadOwnerKey(undefined, dataDir)).toThrow(/owner-key cannot be read \(ENOTDIR\)/);
  });

  it.skipIf(process.getuid?.() === 0)('is refused with the name of the folder when that cannot be written', () => {
    chmodSync(parent, 0o500);
    expect(() => loadOwnerKey(undefined, dataDir)).toThrow(/ROWCALL_DATA_DIR .* \(EACCES\)/);
    chmodSync(parent, 0o700);
  });
});

describe('the key check', () => {
  it('takes the key and nothing else, whatever its length', () => {
    const isOwnerKey = buildKeyCheck('the-owner-key-1');
    expect(isOwnerKey('the-owner-key-1')).toBe(true);
    for (const wrong of ['', 'the-owner-key-', 'the-owner-key-12', 'The-owner-key-1', ' the-owner-key-1']) {
      expect(isOwnerKey(wrong)).toBe(false);
    }
  });

  it('compares all of it, however long it is, and no more than it', () => {
    const long = 'k'.repeat(1_000);
    expect(buildKeyCheck(long)(long)).toBe(true);
    for (const wrong of [long.slice(1), `${long}k`, `${long.slice(1)}x`])
      expect(buildKeyCheck(long)(wrong)).toBe(false);
    expect(buildKeyCheck('short')('short\0')).toBe(false);
    expect(buildKeyCheck('schlüssel-äöü')('schlüssel-äöü')).toBe(true);
  });

  it('takes either of two keys, and no mixture of them', () => {
    const isOwnerKey = buildKeyCheck('the-first-key-of-all', 'the-next-key-of-all!');
    expect(isOwnerKey('the-first-key-of-all')).toBe(true);
    expect(isOwnerKey('the-next-key-of-all!')).toBe(true);
    for (const wrong of [
      '',
      'the-first-key-of-all!',
      'the-next-key-of-al!',
      'the-first-key-of-allthe-next-key-of-all!',
    ]) {
      expect(isOwnerKey(wrong)).toBe(false);
    }
    const twice = buildKeyCheck('the-same-key-twice', 'the-same-key-twice');
    expect([twice('the-same-key-twice'), twice('another')]).toEqual([true, false]);
  });

  it('compares with every key, also when the first is right', () => {
    const compared = vi.mocked(timingSafeEqual);
    const isOwnerKey = buildKeyCheck('the-first-key-of-all', 'the-next-key-of-all!');
    for (const candidate of ['the-first-key-of-all', 'the-next-key-of-all!', 'neither']) {
      compared.mockClear();
      isOwnerKey(candidate);
      expect(compared).toHaveBeenCalledTimes(2);
    }
  });

  it('refuses an empty key', () => {
    expect(() => buildKeyCheck('')).toThrow(/empty/);
    expect(() => buildKeyCheck('the-first-key-of-all', '')).toThrow(/empty/);
  });
});
