import { describe, expect, it } from 'vitest';
import { type CapabilityDocument, Resolver } from './resolver.js';

/** Repeatable numbers, 0 to 1. */
function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

const WORDS =
  'get send delete invoice customer weather mail order refund list create chart report user ticket deploy branch image flarn flarm flari snorp'.split(
    ' ',
  );
const doc = (key: string, what: string, more: Partial<CapabilityDocument> = {}): CapabilityDocument => ({
  ...{ key, what, category: 'test', whenToUse: '', asks: '', argumentNames: '', argumentNotes: '', examples: '' },
  ...{ rank: 0, demoted: false, pinnedFor: [] },
  ...more,
});

describe('the ranking', () => {
  it('does not depend on how often a row was changed', () => {
    const rows = [doc('REFUND_INVOICE', 'refund an invoice'), doc('MAIL', 'send mail'), doc('TIME', 'what time it is')];
    const [changed, fresh] = [new Resolver(), new Resolver()];
    for (const row of rows) for (const resolver of [changed, fresh]) resolver.upsert(row);
    for (let round = 0; round < 20; round += 1) changed.upsert(rows[0] as CapabilityDocument);
    const question = 'refund invoice or send mail';
    expect(changed.search(question, { limit: 12 })).toEqual(fresh.search(question, { limit: 12 }));
  });

  it.each([1, 2, 3])('is after any changes that of rows that were all just written (%d)', (seed) => {
    const random = makeRandom(seed);
    const text = (words: number) =>
      Array.from({ length: words }, () => WORDS[Math.floor(random() * WORDS.length)] ?? '').join(' ');
    const changed = new Resolver();
    const rows = new Map<string, CapabilityDocument>();
    for (let round = 0; round < 500; round += 1) {
      const key = `ROW_${Math.floor(random() * 30)}`;
      const row = doc(key, text(6), {
        rank: Math.floor(random() * 2),
        demoted: random() < 0.1,
        argumentNames: text(2),
      });
      if (random() < 0.25) {
        changed.remove(key);
        rows.delete(key);
      } else {
        changed.upsert(row);
        rows.set(key, row);
      }
    }
    const fresh = new Resolver();
    for (const row of [...rows.values()].reverse()) fresh.upsert(row);
    for (let round = 0; round < 100; round += 1) {
      const question = `${text(3)} flarr and ${text(3)}, ${text(2)}`;
      expect(changed.search(question, { limit: 12 })).toEqual(fresh.search(question, { limit: 12 }));
    }
  });
});
