import type { Api } from '../api.js';
import type { Child } from '../child.js';
import type { Mode } from '../load/measure.js';

/** What is measured, one beside the other. */
export const MODE_NAMES = ['bare', 'insert', 'dispatch'] as const;
/** A way to answer the same request. */
export type ModeName = (typeof MODE_NAMES)[number];

/** What each mode is, for readers of the figures. */
export const MODE_TITLES: Readonly<Record<ModeName, string>> = {
  bare: '(a) Fastify, JSON POST with schema validation',
  insert: '(b) Fastify and one durable INSERT … RETURNING per request, pool of 10',
  dispatch: '(c) POST /api/dispatch of ECHO, its receipt committed',
};

const BODY = JSON.stringify({ key: 'ECHO', body: 'hello' });

/** The modes, each with the same request body. */
export function toModes(
  names: readonly ModeName[],
  { api, comparison }: { api: Api; comparison: Child },
): Mode<ModeName>[] {
  const base = comparison.ready.url ?? '';
  const modes: Record<ModeName, Mode<ModeName>> = {
    bare: toMode('bare', comparison.pid, { url: `${base}/bare`, headers: {} }),
    insert: toMode('insert', comparison.pid, { url: `${base}/insert`, headers: {} }),
    dispatch: toMode('dispatch', api.pid, {
      url: `${api.url}/api/dispatch`,
      headers: { authorization: `Bearer ${api.ownerKey}` },
    }),
  };
  return names.map((name) => modes[name]);
}

function toMode(
  name: ModeName,
  pid: number,
  request: Pick<Mode<ModeName>['request'], 'url' | 'headers'>,
): Mode<ModeName> {
  return { name, pid, request: { ...request, body: BODY, bodyStart: '{"ok":true' } };
}
