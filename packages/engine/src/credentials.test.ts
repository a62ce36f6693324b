import { describe, expect, test } from 'vitest';
import { Credentials } from './credentials.js';

describe('credentials', () => {
  test.each(['DATABASE_URL', 'ROWCALL_OWNER_KEY', 'ROWCALL_SECRET_KEY', 'ROWCALL_'])(
    "never hand out the server's own secret %s, though it is set",
    (name) => {
      const credentials = new Credentials(() => 'a secret of the server');
      expect(credentials.find(name)).toBeUndefined();
      expect(credentials.values).toEqual([]);
    },
  );

  test('remember each value that was handed out, and no other', () => {
    const values: Record<string, string> = { A: 'first', B: 'second', EMPTY: '' };
    const credentials = new Credentials((name) => values[name]);
    expect([credentials.find('A'), credentials.find('EMPTY'), credentials.find('MISSING')]).toEqual([
      'first',
      undefined,
      undefined,
    ]);
    values.A = 'rotated';
    expect(credentials.find('A')).toBe('rotated');
    expect(credentials.values).toEqual(['first', 'rotated']);
    expect(credentials.revision).toBe(2);
  });

  test('hand out a setting without remembering it: it is no secret', () => {
    const credentials = new Credentials(() => 'body');
    expect(credentials.findSetting('CRM_TOKEN_AUTH')).toBe('body');
    expect(credentials.findSetting('ROWCALL_TOKEN_AUTH')).toBeUndefined();
    expect(credentials.values).toEqual([]);
  });

  test('remember the last eight issued values of each owner', () => {
    const credentials = new Credentials(() => undefined);
    for (let n = 0; n < 10; n += 1) credentials.remember('CRM', `token-${n}`);
    credentials.remember('MAIL', 'token-of-mail');
    const before = credentials.revision;
    credentials.remember('CRM', 'token-9');
    expect(credentials.revision).toBe(before);
    expect(credentials.values).toEqual([...[2, 3, 4, 5, 6, 7, 8, 9].map((n) => `token-${n}`), 'token-of-mail']);
  });
});
