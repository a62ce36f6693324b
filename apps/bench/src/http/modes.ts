import type { Api } from '../api.js';
import type { Child } from '../child.js';
import type { Mode } from '../load/measure.js';
import { ITEM_CALL, ITEM_REQUEST } from './item.js';

/** Two ways to the same answer of the upstream. */
export type ModeName = 'direct' | 'dispatch';

/** What each mode is, for readers of the figures. */
export const MODE_TITLES: Readonly<Record<ModeName, string>> = {
  direct: '(a) the caller asks the upstream itself, through undici',
  dispatch:
    '(b) the caller asks POST /api/dispatch, through undici; the row asks the upstream; its receipt is committed',
};

/** @param key of the row that asks the upstream. */
export function toModes({ api, upstream, key }: { api: Api; upstream: Child; key: string }): Mode<ModeName>[] {
  return [
    {
      name: 'direct',
      pid: upstream.pid,
      request: {
        url: `${upstream.ready.url}${ITEM_REQUEST.path}`,
        headers: { accept: 'application/json' },
        body: JSON.stringify(ITEM_REQUEST.body),
        bodyStart: '{"id":',
      },
    },
    {
      name: 'dispatch',
      pid: api.pid,
      request: {
        url: `${api.url}/api/dispatch`,
        headers: { authorization: `Bearer ${api.ownerKey}` },
        body: JSON.stringify({ key, body: ITEM_CALL }),
        bodyStart: '{"ok":true',
      },
    },
  ];
}
