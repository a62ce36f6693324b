import { describe, expect, it } from 'vitest';
import { hashToken, isToken, toActor, toGrantFingerprint, toToken } from './token.js';

const TOKEN = 'sh.AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';
const HASH = 'd36d46cb2040d83d25b13a5f4bb10a4ca4b27baf48c8e38adc4a4c97dcb00e44';
const FINGERPRINT = 'cap_adc44757a2f598e3de63303e9ed8b9fd';

describe('a token', () => {
  it('is sh. and the base64url of 32 bytes', () => {
    expect(toToken(Uint8Array.from({ length: 32 }, (_, index) => index))).toBe(TOKEN);
    expect(toToken(new Uint8Array(32).fill(255))).toBe(`sh.${'_'.repeat(42)}8`);
  });

  it.each([0, 16, 31, 33])('is not made of %i bytes', (length) => {
    expect(() => toToken(new Uint8Array(length))).toThrow('a token is made of 32 bytes');
  });

  it('is known by its SHA-256, and by a fingerprint that gives away neither', () => {
    expect(hashToken(TOKEN)).toBe(HASH);
    expect(toGrantFingerprint(HASH)).toBe(FINGERPRINT);
    expect(toActor(FINGERPRINT)).toBe('cap:adc44757a2f598e3de63303e9ed8b9fd');
  });

  it.each([
    ['', false],
    [TOKEN, true],
    [`${TOKEN}\n`, false],
    [` ${TOKEN}`, false],
    [TOKEN.slice(0, -1), false],
    [`${TOKEN}A`, false],
    [TOKEN.replace('sh.', 'SH.'), false],
    // The last character would carry bits that are of no byte.
    [`${TOKEN.slice(0, -1)}9`, false],
  ])('has one form: %j is %s', (text, expected) => {
    expect(isToken(text)).toBe(expected);
  });
});
