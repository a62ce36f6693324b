import type { Api } from '../api.js';
import type { Child } from '../child.js';
import type { Mode } from '../load/measure.js';
import { ITEM_CALL, ITEM_REQUEST } from './item.js';

/** What is measured, one beside the other. */
export type ModeName = 'direct' | 'again' | 'insert' | 'dispatch';

/** What each mode is, for readers of the figures. */
export const MODE_TITLES: Readonly<Record<ModeName, string>> = {
  direct: '(a) the caller asks the upstream itself, through undici',
  again: '(a) once more: what the machine alone makes of the same thing',
  insert: '(b) the caller asks Fastify, through undici; one durable INSERT of the size of a receipt, and no upstream',
  dispatch:
    '(c) the caller asks POST /api/dispatch, through undici; the row asks the upstream; its receipt is committed',
};

/** What {@link toModes} takes. */
export interface ModeParts {
  readonly api: Api;
  readonly upstream: Child;
  readonly comparison: Child;
  /** Of the row that asks the upstream. */
  readonly key: string;
}

/** The modes, all asked by the same program. */
export function toModes({ api, upstream, comparison, key }: ModeParts): Mode<ModeName>[] {
  const direct = {
    pid: upstream.pid,
    request: {
      url: `${upstream.ready.url}${ITEM_REQUEST.path}`,
      headers: { accept: 'application/json' },
      body: JSON.stringify(ITEM_REQUEST.body),
      bodyStart: '{"id":',
    },
  };
  const call = { headers: {}, body: JSON.stringify({ key, body: ITEM_CALL }), bodyStart: '{"ok":true' };
  const headers = { authorization: `Bearer ${api.ownerKey}` };
  return [
    { ...direct, name: 'direct' },
    { ...direct, name: 'again' },
    { name: 'insert', pid: comparison.pid, request: { ...call, url: `${comparison.ready.url}/insert` } },
    { name: 'dispatch', pid: api.pid, request: { ...call, headers, url: `${api.url}/api/dispatch` } },
  ];
}
