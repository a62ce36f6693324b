import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
/** NIST SP 800-38D 8.2.2: random, 96 bits. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** First byte of what is sealed, so that the format can change. */
const FORMAT = 1;
const HEAD_BYTES = 1 + NONCE_BYTES + TAG_BYTES;

/** Encrypts what is kept in the database. */
export class Sealer {
  readonly #key: Buffer;

  /**
   * @param secretKey ROWCALL_SECRET_KEY; the key used is derived from it by HKDF-SHA-256 (RFC 5869).
   * @param purpose keeps keys of different uses apart.
   */
  constructor(secretKey: string, purpose: string) {
    this.#key = Buffer.from(hkdfSync('sha256', secretKey, '', `rowcall ${purpose}`, KEY_BYTES));
  }

  /** Encrypts a text with AES-256-GCM: format, nonce, tag, ciphertext. @param place where it is kept: elsewhere it does not open. */
  seal(text: string, place: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(place, 'utf8'));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([Buffer.of(FORMAT), nonce, cipher.getAuthTag(), sealed]);
  }

  /** @returns the text; undefined when it was sealed with another key, for another place, or was changed. */
  open(sealed: Buffer, place: string): string | undefined {
    if (sealed.length < HEAD_BYTES || sealed[0] !== FORMAT) return undefined;
    const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
    const decipher = createDecipheriv(ALGORITHM, this.#key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(place, 'utf8'));
    decipher.setAuthTag(sealed.subarray(1 + NONCE_BYTES, HEAD_BYTES));
    const text = decipher.update(sealed.subarray(HEAD_BYTES));
    try {
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    } catch {
      // GCM tells nothing but that the tag is not the one.
      return undefined;
    }
  }
}
