import { Readable } from 'node:stream';
import { request } from 'undici';
import type { Api } from '../api.js';
import { makeUpload, toBadLineNumber } from './lines.js';

/** What came of an upload. */
export interface Uploaded {
  /** From the sending of its first byte to the answer, in ms. */
  readonly elapsedMs: number;
  /** When the answer was there, on the clock of `performance.now()`. */
  readonly answeredAt: number;
  readonly bytes: number;
}

/** What an import answers. */
export interface ImportReport {
  readonly lines: number;
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly failed: number;
  readonly errors: readonly { readonly line: number; readonly error: string }[];
}

/** Streams `rows` rows, and a bad line among them, to the API. @throws Error when its report is not what it has to be. */
export async function upload(api: Api, rows: number): Promise<Uploaded> {
  let bytes = 0;
  const count = function* () {
    for (const chunk of makeUpload(rows)) {
      bytes += chunk.length;
      yield chunk;
    }
  };
  const startedAt = performance.now();
  const { statusCode, body } = await request(`${api.url}/api/directory:import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${api.ownerKey}`, 'content-type': 'application/x-ndjson' },
    body: Readable.from(count()),
    headersTimeout: 0,
  });
  const text = await body.text();
  const answeredAt = performance.now();
  if (statusCode !== 200) throw new Error(`the import answered ${statusCode} ${text}`);
  checkReport(JSON.parse(text) as ImportReport, rows);
  return { elapsedMs: answeredAt - startedAt, answeredAt, bytes };
}

/** @throws Error unless all rows were created and the one bad line was told by its number. */
export function checkReport(report: ImportReport, rows: number): void {
  const { lines, created, failed, errors } = report;
  const told = errors.map(({ line, error }) => `${line} ${error}`).join();
  const isRight = lines === rows + 1 && created === rows && failed === 1;
  if (!isRight || told !== `${toBadLineNumber(rows)} invalid_json`)
    throw new Error(`the import of ${rows} rows reported ${JSON.stringify({ ...report, errors: errors.slice(0, 5) })}`);
}
