import { describe, expect, test } from 'vitest';
import { Sealer } from './seal.js';

const sealer = new Sealer('the secret key of the server', 'test');

describe('what is sealed', () => {
  test('opens with the same key and place, and never looks the same twice', () => {
    const [one, two] = [sealer.seal('a token: ø', 'here'), sealer.seal('a token: ø', 'here')];
    expect(one.equals(two)).toBe(false);
    expect(one.includes('a token')).toBe(false);
    expect([sealer.open(one, 'here'), sealer.open(two, 'here')]).toEqual(['a token: ø', 'a token: ø']);
  });

  test('is AES-256-GCM under a key of HKDF-SHA-256', () => {
    // Made with Python's cryptography: HKDF(SHA256, 32, salt=None, info=b"rowcall test"), AESGCM, nonce 000102…0b.
    const hex = '01000102030405060708090a0b2c66e85063186050425941245b493b063503058b017ac5';
    expect(sealer.open(Buffer.from(hex, 'hex'), 'here')).toBe('a token');
  });

  test('does not open elsewhere, with another key, for another purpose, or changed in any byte', () => {
    const sealed = sealer.seal('a token', 'here');
    expect(sealer.open(sealed, 'there')).toBeUndefined();
    expect(new Sealer('another key of the server', 'test').open(sealed, 'here')).toBeUndefined();
    expect(new Sealer('the secret key of the server', 'other').open(sealed, 'here')).toBeUndefined();
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8((changed[at] ?? 0) ^ 1, at);
      expect(sealer.open(changed, 'here')).toBeUndefined();
      expect(sealer.open(sealed.subarray(0, at), 'here')).toBeUndefined();
    }
  });
});
