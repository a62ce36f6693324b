import { expect, test } from 'vitest';
import type { StoredEvent } from './event.js';
import { takeSettled } from './event-tail.js';

const page = (...ids: number[]): StoredEvent[] =>
  ids.map((id) => ({ id, at: '', kind: 'K', actor: 'a', key: null, reason: null, detail: {} }));

test.each([
  ['without a gap all are taken', [4, 5, 6], 3, 0, [4, 5, 6]],
  ['none is taken behind a gap', [5, 6], 3, 0, []],
  ['those before a gap are taken', [4, 6, 7], 3, 0, [4]],
  ['gaps up to where all is settled do not count', [5, 7, 8], 3, 7, [5, 7, 8]],
  ['gaps beyond where all is settled do', [5, 7, 9], 3, 7, [5, 7]],
  ['the first beyond it follows on where all is settled', [5, 8], 3, 7, [5, 8]],
  ['of nothing nothing is taken', [], 3, 7, []],
])('%s', (_name, ids, position, settledTo, taken) => {
  expect(takeSettled(page(...ids), position, settledTo).map(({ id }) => id)).toEqual(taken);
});
