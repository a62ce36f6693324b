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
    expect(credentials.count).toBe(2);
  });
});
