import type { Redactor } from '@rowcall/receipts';
import type { Credentials } from './credentials.js';
import { buildRedactor } from './http/redact.js';

/** Gives the redactor of what is kept, up to date with every credential that was used so far. */
export class ReceiptRedactor {
  readonly #credentials: Credentials;
  #built: { readonly revision: number; readonly redactor: Redactor } | undefined;

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  get current(): Redactor {
    if (this.#built?.revision !== this.#credentials.revision) {
      this.#built = { revision: this.#credentials.revision, redactor: buildRedactor(this.#credentials.values) };
    }
    return this.#built.redactor;
  }
}
