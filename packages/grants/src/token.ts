import { GRANT_TOKEN_PATTERN } from '@rowcall/protocol';
import { sha256 } from '@rowcall/receipts';

const TOKEN_BYTES = 32;
const FINGERPRINT_HEX = 32;

/**
 * Writes a token: `sh.` and the base64url (RFC 4648) of the bytes.
 *
 * @param bytes 32 bytes of a cryptographic source of chance
 */
export function toToken(bytes: Uint8Array): string {
  if (bytes.length !== TOKEN_BYTES) throw new Error(`a token is made of ${TOKEN_BYTES} bytes, not of ${bytes.length}`);
  return `sh.${Buffer.from(bytes).toString('base64url')}`;
}

/** Tells whether a text has the form of a token; whether there is a grant for it is another question. */
export function isToken(text: string): boolean {
  return GRANT_TOKEN_PATTERN.test(text);
}

/**
 * What is stored of a token, and found by: the SHA-256 (FIPS 180-4) of its text in lower-case hex. How long the search takes
 * tells of the hash, which leads back to no token: nothing is compared with the token itself.
 */
export function hashToken(token: string): string {
  return sha256(token);
}

/** The public name of a grant: `cap_` and 128 bits of a hash of the token's hash. It leads back to neither. */
export function toGrantFingerprint(tokenHash: string): string {
  return `cap_${sha256(tokenHash).slice(0, FINGERPRINT_HEX)}`;
}

/** How receipts name the holder of a grant: `cap:` and the hex of its fingerprint. */
export function toActor(fingerprint: string): string {
  return fingerprint.replace('_', ':');
}
