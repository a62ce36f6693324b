import type { Answer, Client } from './client.js';

/** What an import answers. */
export interface Report {
  readonly dry_run: boolean;
  readonly atomic: boolean;
  readonly lines: number;
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly failed: number;
  readonly errors: readonly { readonly line: number; readonly key?: string; readonly error: string }[];
}

/** A row that passes, as an import takes it. */
export const makeLine = (key: string, more: object = {}): object => ({
  key,
  type: 'fn',
  target: 'ECHO',
  content: '# WHAT: Echo.',
  examples: ['a'],
  ...more,
});

/** Sends lines as NDJSON; a text is a line as it is. */
export function sendLines(client: Client, lines: readonly (object | string)[], query = ''): Promise<Answer> {
  const body = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  return client.send('POST', `/api/directory:import${query}`, {
    body,
    headers: { 'content-type': 'application/x-ndjson' },
  });
}

/** Sends lines that are expected to be taken. @returns the report. */
export async function importLines(client: Client, lines: readonly (object | string)[], query = ''): Promise<Report> {
  const answer = await sendLines(client, lines, query);
  if (answer.status !== 200) throw new Error(`the import answered ${answer.status}: ${answer.text}`);
  return answer.json<Report>();
}
