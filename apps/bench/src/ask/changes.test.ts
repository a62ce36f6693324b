import { afterEach, describe, expect, it } from 'vitest';
import type { Api } from '../api.js';
import { Door } from '../door.js';
import { startServer } from '../testing/server.js';
import { Changes } from './changes.js';
import { makeAskRow } from './rows.js';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** An API on loopback that takes every change and notes it. */
async function startDirectory() {
  const taken: string[] = [];
  const url = await startServer(({ method, url: path }, response) => {
    taken.push(`${method} ${path}`);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"version":2}');
  });
  const door = new Door({ url: new URL(url).origin, ownerKey: 'key' } as Api);
  open.push(() => door.close());
  return { taken, door };
}

describe('changes beside questions', () => {
  it('are of every kind, to rows that there are and to new ones after them', async () => {
    const { taken, door } = await startDirectory();
    const changes = new Changes(door, 100);
    for (let turn = 0; turn < 8; turn += 1) await changes.make(turn);
    const key = (index: number) => makeAskRow(index).key;
    // 7919 is 19 modulo 100.
    expect(taken).toEqual([
      'POST /api/directory',
      `DELETE /api/directory/${key(100)}`,
      `PATCH /api/directory/${key(19)}`,
      `PUT /api/directory/${key(38)}`,
      `PUT /api/directory/${key(57)}`,
      'POST /api/directory',
      `PATCH /api/directory/${key(95)}`,
      `PUT /api/directory/${key(14)}`,
      `PUT /api/directory/${key(33)}`,
    ]);
  });
});
