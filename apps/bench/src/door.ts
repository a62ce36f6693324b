import type { RowPatch, RowWrite } from '@rowcall/protocol';
import { Pool } from 'undici';
import type { Api } from './api.js';

const CONNECTIONS = 16;

/** One API process, as a caller sees it. */
export class Door {
  readonly #pool: Pool;
  readonly #headers: Readonly<Record<string, string>>;

  constructor({ url, ownerKey }: Api) {
    this.#pool = new Pool(url, { connections: CONNECTIONS });
    this.#headers = { authorization: `Bearer ${ownerKey}`, 'content-type': 'application/json' };
  }

  /** Version at which a row is served; undefined when the process has no such row. */
  async readVersion(key: string): Promise<number | undefined> {
    const { statusCode, body } = await this.#pool.request({ method: 'GET', path: `/api/dispatch?key=${key}` });
    if (statusCode === 404) {
      await body.dump();
      return undefined;
    }
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`reading ${key}: ${statusCode} ${text}`);
    const { version } = JSON.parse(text) as { version?: unknown };
    if (typeof version !== 'number') throw new Error(`the contract of ${key} has no version: ${text}`);
    return version;
  }

  /** How many rows the process serves. */
  async countRows(): Promise<number> {
    const { statusCode, body } = await this.#pool.request({ method: 'GET', path: '/readyz' });
    const text = await body.text();
    const { rows } = JSON.parse(text) as { rows?: unknown };
    if (typeof rows !== 'number') throw new Error(`GET /readyz: ${statusCode} ${text}`);
    return rows;
  }

  /** Puts a row in place of the old one. @returns its new version. */
  replace(row: RowWrite): Promise<number> {
    return this.#write('PUT', `/api/directory/${row.key}`, row);
  }

  /** Changes columns of a row. @returns its new version. */
  change(key: string, columns: RowPatch): Promise<number> {
    return this.#write('PATCH', `/api/directory/${key}`, columns);
  }

  /** Adds a row. @returns its version. */
  create(row: RowWrite): Promise<number> {
    return this.#write('POST', '/api/directory', row);
  }

  /** Deletes a row. */
  async remove(key: string): Promise<void> {
    const path = `/api/directory/${key}`;
    const { authorization = '' } = this.#headers;
    const { statusCode, body } = await this.#pool.request({ method: 'DELETE', path, headers: { authorization } });
    const text = await body.text();
    if (statusCode >= 300) throw new Error(`DELETE ${path}: ${statusCode} ${text}`);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #write(method: 'PUT' | 'POST' | 'PATCH', path: string, columns: RowPatch): Promise<number> {
    const { statusCode, body } = await this.#pool.request({
      method,
      path,
      headers: this.#headers,
      body: JSON.stringify(columns),
    });
    const text = await body.text();
    if (statusCode >= 300) throw new Error(`${method} ${path}: ${statusCode} ${text}`);
    return (JSON.parse(text) as { version: number }).version;
  }
}
