import { EmbeddingError } from '@rowcall/embeddings';
import { silentLog } from '@rowcall/protocol';
import { describe, expect, it } from 'vitest';
import { BackOff } from './back-off.js';

const DOWN = new EmbeddingError('unreachable', 'the embeddings service is out of reach');
const waits = (backOff: BackOff, error: Error, count: number) =>
  Array.from({ length: count }, () => backOff.fail(error));

describe('BackOff', () => {
  it('waits twice as long each time, up to five minutes, and begins anew after a success', () => {
    const backOff = new BackOff({ log: silentLog, random: () => 1 });
    expect(waits(backOff, DOWN, 4)).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(waits(backOff, DOWN, 100).at(-1)).toBe(300_000);
    backOff.succeed();
    expect(backOff.fail(DOWN)).toBe(1_000);
  });

  it('leaves half of the wait to chance, so that runners do not come back together', () => {
    const backOff = new BackOff({ log: silentLog, random: () => 0 });
    expect(waits(backOff, DOWN, 3)).toEqual([500, 1_000, 2_000]);
  });

  it('waits no less than the service asks for', () => {
    const backOff = new BackOff({ log: silentLog, random: () => 0 });
    expect(backOff.fail(new EmbeddingError('status', 'the embeddings service answered 429', 7_000))).toBe(7_000);
    expect(backOff.fail(new EmbeddingError('status', 'the embeddings service answered 429', 10))).toBe(1_000);
  });

  it('waits for the database five seconds at the most', () => {
    const backOff = new BackOff({ log: silentLog, random: () => 1 });
    expect(waits(backOff, new Error('Connection terminated'), 50).at(-1)).toBe(5_000);
  });

  it('says what fails when it begins to, when that changes, and when it is over', () => {
    const lines: string[] = [];
    const note = (_facts: object, message: string) => void lines.push(message);
    const backOff = new BackOff({ log: { ...silentLog, info: note, warn: note }, random: () => 0 });
    backOff.succeed();
    waits(backOff, DOWN, 3);
    waits(backOff, new Error('Connection terminated'), 3);
    backOff.succeed();
    backOff.succeed();
    const failing = 'vectors of rows cannot be computed; rows are found without';
    expect(lines).toEqual([failing, failing, 'vectors of rows are computed again']);
  });
});
