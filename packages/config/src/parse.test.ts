import { describe, expect, it } from 'vitest';
import { ConfigError, parseConfig } from './parse.js';

const noFiles = (path: string): string => {
  throw new Error(`no such file ${path}`);
};

const problemsOf = (env: Record<string, string>, readFile = noFiles): readonly string[] => {
  try {
    parseConfig(env, readFile);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
};

describe('parseConfig', () => {
  it('needs nothing set', () => {
    expect(parseConfig({}, noFiles)).toMatchObject({
      host: '127.0.0.1',
      port: 8787,
      dataDir: '.rowcall',
      databaseUrl: undefined,
      ownerKey: undefined,
      logLevel: 'info',
      lanes: ['default'],
      embeddings: undefined,
    });
  });

  it('names every problem at once', () => {
    expect(
      problemsOf({
        ROWCALL_PORT: 'eighty',
        DATABASE_URL: 'mysql://x/y',
        ROWCALL_OWNER_KEY: 'short',
        ROWCALL_TIMEZONE: 'Europe/Atlantis',
        ROWCALL_ALLOW_NETS: '10.0.0.0/8,nonsense',
        ROWCALL_LOG_LEVEL: 'loud',
        ROWCALL_PUBLIC_URL: 'ftp://x',
      }),
    ).toEqual([
      'ROWCALL_PORT must be a port',
      'DATABASE_URL must be a postgres:// address',
      'ROWCALL_OWNER_KEY must have at least 16 characters',
      'ROWCALL_TIMEZONE must be an IANA time zone, such as Europe/Oslo',
      'ROWCALL_ALLOW_NETS must be networks, such as 10.0.0.0/8',
      'ROWCALL_LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent',
      'ROWCALL_PUBLIC_URL must be an http(s) address',
    ]);
  });

  it('has no functions folder unless one is named', () => {
    expect(parseConfig({ ROWCALL_FUNCTIONS: '' }, noFiles).functionFolder).toBeUndefined();
    expect(parseConfig({ ROWCALL_FUNCTIONS: './functions' }, noFiles).functionFolder).toBe('./functions');
  });

  it('keeps payloads for 90 days unless told otherwise, and for ever at 0', () => {
    expect(parseConfig({}, noFiles).payloadDays).toBe(90);
    expect(parseConfig({ ROWCALL_PAYLOAD_DAYS: '0' }, noFiles).payloadDays).toBe(0);
    expect(problemsOf({ ROWCALL_PAYLOAD_DAYS: '-1' })).toEqual(['ROWCALL_PAYLOAD_DAYS must be 0 or more']);
    expect(problemsOf({ ROWCALL_PAYLOAD_DAYS: 'ever' })).toEqual(['ROWCALL_PAYLOAD_DAYS must be a number of days']);
  });

  it('keeps asks for 30 days unless told otherwise, and for ever at 0', () => {
    expect(parseConfig({}, noFiles).askDays).toBe(30);
    expect(parseConfig({ ROWCALL_ASK_DAYS: '0' }, noFiles).askDays).toBe(0);
    expect(problemsOf({ ROWCALL_ASK_DAYS: '1.5' })).toEqual(['ROWCALL_ASK_DAYS must be whole days']);
  });

  it('learns nothing unless told to', () => {
    expect(parseConfig({}, noFiles).learn).toBe(false);
    expect(parseConfig({ ROWCALL_LEARN: 'on' }, noFiles).learn).toBe(true);
    expect(problemsOf({ ROWCALL_LEARN: 'true' })).toEqual(['ROWCALL_LEARN must be on or off']);
  });

  it('refuses a misspelt setting instead of ignoring it', () => {
    expect(problemsOf({ ROWCALL_PROT: '1' })[0]).toMatch(/^ROWCALL_PROT is not a setting/);
  });

  it('reads a secret from its file, without the newline at the end, and prefers the variable', () => {
    const readFile = (path: string) => (path === '/run/key' ? 'from-the-file-0123\n' : noFiles(path));
    expect(parseConfig({ ROWCALL_OWNER_KEY_FILE: '/run/key' }, readFile).ownerKey).toBe('from-the-file-0123');
    expect(
      parseConfig({ ROWCALL_OWNER_KEY_FILE: '/run/key', ROWCALL_OWNER_KEY: 'from-the-variable' }, readFile).ownerKey,
    ).toBe('from-the-variable');
  });

  it('takes a second owner key from its variable or its file, and has none otherwise', () => {
    const readFile = (path: string) => (path === '/run/next' ? 'next-from-the-file\n' : noFiles(path));
    expect(parseConfig({}, noFiles).ownerKeyNext).toBeUndefined();
    expect(parseConfig({ ROWCALL_OWNER_KEY_NEXT: 'next-from-the-variable' }, noFiles).ownerKeyNext).toBe(
      'next-from-the-variable',
    );
    expect(parseConfig({ ROWCALL_OWNER_KEY_NEXT_FILE: '/run/next' }, readFile).ownerKeyNext).toBe('next-from-the-file');
    expect(problemsOf({ ROWCALL_OWNER_KEY_NEXT: 'short' })).toEqual([
      'ROWCALL_OWNER_KEY_NEXT must have at least 16 characters',
    ]);
  });

  it('says which secret file cannot be read', () => {
    expect(problemsOf({ DATABASE_URL_FILE: '/nowhere' })).toEqual([
      'DATABASE_URL_FILE cannot be read: no such file /nowhere',
    ]);
  });

  it('tells networks that are not given from none at all', () => {
    expect(parseConfig({}, noFiles).allowNets).toBeUndefined();
    expect(parseConfig({ ROWCALL_ALLOW_NETS: 'none' }, noFiles).allowNets).toEqual([]);
    expect(parseConfig({ ROWCALL_ALLOW_NETS: '10.0.0.0/8, ::1/128' }, noFiles).allowNets).toEqual([
      '10.0.0.0/8',
      '::1/128',
    ]);
  });

  it('takes a service of embeddings with its model, and its key from a file', () => {
    const readFile = (path: string) => (path === '/run/key' ? 'sk-key\n' : noFiles(path));
    const settings = { ROWCALL_EMBEDDINGS_URL: 'http://127.0.0.1:11434/v1', ROWCALL_EMBEDDINGS_MODEL: 'model-a' };
    const embeddings = { url: 'http://127.0.0.1:11434/v1', model: 'model-a', key: undefined, dimensions: undefined };
    expect(parseConfig(settings, noFiles).embeddings).toEqual(embeddings);
    expect(
      parseConfig(
        { ...settings, ROWCALL_EMBEDDINGS_KEY_FILE: '/run/key', ROWCALL_EMBEDDINGS_DIMENSIONS: '256' },
        readFile,
      ).embeddings,
    ).toEqual({ ...embeddings, key: 'sk-key', dimensions: 256 });
  });

  it('names what of a service of embeddings is missing or wrong, and never its key', () => {
    expect(problemsOf({ ROWCALL_EMBEDDINGS_URL: 'https://x.example' })).toEqual([
      'ROWCALL_EMBEDDINGS_MODEL must be set, as ROWCALL_EMBEDDINGS_URL is',
    ]);
    expect(problemsOf({ ROWCALL_EMBEDDINGS_KEY: 'sk-key' })).toEqual([
      'ROWCALL_EMBEDDINGS_URL must be set, as ROWCALL_EMBEDDINGS_KEY is',
      'ROWCALL_EMBEDDINGS_MODEL must be set, as ROWCALL_EMBEDDINGS_KEY is',
    ]);
    expect(
      problemsOf({
        ROWCALL_EMBEDDINGS_URL: 'file:///etc/passwd',
        ROWCALL_EMBEDDINGS_MODEL: 'm'.repeat(201),
        ROWCALL_EMBEDDINGS_KEY: 'sk key\r\nx-header: y',
        ROWCALL_EMBEDDINGS_DIMENSIONS: '0',
      }),
    ).toEqual([
      'ROWCALL_EMBEDDINGS_URL must be an http(s) address',
      'ROWCALL_EMBEDDINGS_MODEL must have at most 200 characters',
      'ROWCALL_EMBEDDINGS_KEY must be printable ASCII without blanks',
      'ROWCALL_EMBEDDINGS_DIMENSIONS must be 1 or more',
    ]);
    for (const url of ['https://user:secret@x.example', 'https://x.example#secret']) {
      expect(problemsOf({ ROWCALL_EMBEDDINGS_URL: url, ROWCALL_EMBEDDINGS_MODEL: 'model-a' })).toEqual([
        'ROWCALL_EMBEDDINGS_URL must have no user, password or fragment',
      ]);
    }
  });

  it('takes an empty variable for one that is not set', () => {
    expect(parseConfig({ DATABASE_URL: '', ROWCALL_PORT: '' }, noFiles)).toMatchObject({
      databaseUrl: undefined,
      port: 8787,
    });
  });
});
