import { describe, expect, it } from 'vitest';
import { InvertedIndex, POSTINGS_MAX } from './inverted-index.js';
import { MatchTable, PARTS_MAX } from './match-table.js';

const FIELDS = [
  { weight: 4, b: 0.9 },
  { weight: 1, b: 0.75 },
];

/** Score and share of the weight of the terms, by document. */
const matchAll = (index: InvertedIndex, ...terms: string[]): Map<number, { score: number; covered: number }> => {
  const table = new MatchTable();
  index.match(
    terms.map((term) => ({ term, parts: 1, others: [] })),
    table,
  );
  const found = [...table.documents.subarray(0, table.count)].map((document) => {
    const score = (table.totals[document] ?? 0) / table.weight;
    return [document, { score, covered: (table.covered[document] ?? 0) / table.weight }] as const;
  });
  return new Map(found);
};

/** A number of a repeatable sequence, 0 to 1. */
function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('InvertedIndex', () => {
  it('scores by BM25F, as a share of the weight of the question', () => {
    const index = new InvertedIndex(FIELDS);
    const mail = index.add([
      ['send', 'mail'],
      ['send', 'a', 'letter', 'a'],
    ]);
    index.add([['weather'], ['forecast', 'of', 'a', 'place']]);
    const rarity = Math.log(1 + (2 - 1 + 0.5) / (1 + 0.5));
    const strength = 4 / (1 - 0.9 + (0.9 * 2) / 1.5) + 1 / (1 - 0.75 + (0.75 * 4) / 4);
    const unknown = Math.log(1 + (2 - 0 + 0.5) / 0.5);
    const found = matchAll(index, 'send', 'nowhere');
    expect([...found.keys()]).toEqual([mail]);
    expect(found.get(mail)?.covered).toBeCloseTo(rarity / (rarity + unknown), 6);
    expect(found.get(mail)?.score).toBeCloseTo((rarity * strength) / (1.2 + strength) / (rarity + unknown), 12);
  });

  it('counts a repeated term more, up to 15 times', () => {
    const index = new InvertedIndex([{ weight: 1, b: 0 }]);
    const [once, many, most] = [1, 15, 1_000].map((times) => index.add([Array(times).fill('a')]));
    const found = matchAll(index, 'a');
    const score = (document = -1) => found.get(document)?.score ?? 0;
    expect(score(many)).toBeGreaterThan(score(once));
    expect(score(most)).toBe(score(many));
  });

  it('finds nothing of what was removed, and gives the number of a removed document away only when no list names it', () => {
    const index = new InvertedIndex(FIELDS);
    const first = index.add([['a'], []]);
    index.remove(first);
    index.remove(first);
    expect(index.size).toBe(0);
    const second = index.add([['b'], []]);
    expect([...matchAll(index, 'a', 'b').keys()]).toEqual([second]);
  });

  it('uses the number of an empty document again', () => {
    const index = new InvertedIndex(FIELDS);
    const empty = index.add([[], []]);
    index.remove(empty);
    expect(index.add([['a'], []])).toBe(empty);
  });

  it('clears the lists of removed documents while others come', () => {
    const index = new InvertedIndex(FIELDS);
    const numbers: number[] = [];
    for (let round = 0; round < 20_000; round += 1) {
      numbers.push(
        index.add([
          [`key${round}`, 'common'],
          ['some', 'text'],
        ]),
      );
      if (round >= 10) index.remove(numbers[round - 10] ?? -1);
    }
    // Without clearing, each document would have a number of its own.
    expect(Math.max(...numbers)).toBeLessThan(5_000);
    expect([...matchAll(index, 'common').keys()].sort()).toEqual(numbers.slice(-10).sort());
    expect(matchAll(index, 'key19999').size).toBe(1);
    expect(matchAll(index, 'key5').size).toBe(0);
  });

  it('clears as much as great documents leave behind', { timeout: 60_000 }, () => {
    const index = new InvertedIndex(FIELDS);
    const numbers: number[] = [];
    for (let round = 0; round < 200; round += 1) {
      const terms = Array.from({ length: 5_000 }, (_, place) => `w${round}x${place}`);
      const number = index.add([terms, []]);
      numbers.push(number);
      index.remove(number);
    }
    expect(Math.max(...numbers)).toBeLessThan(10);
  });

  it('finds after any changes what an index made anew finds', () => {
    const random = makeRandom(7);
    const words = Array.from({ length: 50 }, (_, number) => `w${number}`);
    const draw = () => words.filter(() => random() < 0.1);
    const index = new InvertedIndex(FIELDS);
    const alive = new Map<number, string[][]>();
    for (let round = 0; round < 5_000; round += 1) {
      const [victim] = alive.keys();
      if (victim !== undefined && random() < 0.45) {
        alive.delete(victim);
        index.remove(victim);
      } else {
        const fields = [draw(), draw()];
        const number = index.add(fields);
        expect(alive.has(number)).toBe(false);
        alive.set(number, fields);
      }
    }
    const fresh = new InvertedIndex(FIELDS);
    const names = new Map([...alive].map(([number, fields]) => [fresh.add(fields), number]));
    expect(index.size).toBe(fresh.size);
    for (const word of words) {
      const expected = [...matchAll(fresh, word)].map(([number, { covered }]) => [
        names.get(number),
        Math.round(covered),
      ]);
      const found = [...matchAll(index, word)].map(([number, { covered }]) => [number, Math.round(covered)]);
      expect(found.sort()).toEqual(expected.sort());
    }
  });

  it('refuses more fields than fit into a number', () => {
    expect(() => new InvertedIndex(Array(9).fill({ weight: 1, b: 0 }))).toThrow(RangeError);
  });

  it('keeps the scores of the parts of a question apart', () => {
    const index = new InvertedIndex(FIELDS);
    const [mail, weather] = [index.add([['mail'], []]), index.add([['weather'], []])];
    const table = new MatchTable();
    index.match(
      [
        { term: 'mail', parts: 0b01, others: [] },
        { term: 'weather', parts: 0b10, others: [] },
      ],
      table,
    );
    const part = (document: number, of: number) => table.parts[document * PARTS_MAX + of] ?? 0;
    expect([part(mail, 0) > 0, part(mail, 1), part(weather, 0), part(weather, 1) > 0]).toEqual([true, 0, 0, true]);
    expect(table.partWeights[0]).toBeCloseTo(table.weight / 2, 12);
  });

  it('counts what stands for a term where the term does not stand, and never both', () => {
    const index = new InvertedIndex([{ weight: 1, b: 0 }]);
    const documents = [[['big']], [['large']], [['big', 'large']], [['other']]].map((fields) => index.add(fields));
    const table = new MatchTable();
    index.match([{ term: 'big', parts: 1, others: [{ term: 'large', share: 0.5 }] }], table);
    const [big = 0, large = 0, both = 0] = documents.map((document) =>
      table.has(document) ? table.totals[document] : -1,
    );
    expect([large > 0, large < big, both, documents.map((document) => table.has(document))]).toEqual([
      true,
      true,
      big,
      [true, true, true, false],
    ]);
  });

  it('leaves the most common terms out once a question has looked at enough', () => {
    const index = new InvertedIndex([{ weight: 1, b: 0 }]);
    const rows = POSTINGS_MAX / 2 + 1;
    for (let row = 0; row < rows; row += 1) index.add([row === 7 ? ['rare', 'common', 'usual'] : ['common', 'usual']]);
    const table = new MatchTable();
    index.match(
      ['usual', 'common', 'rare'].map((term) => ({ term, parts: 1, others: [] })),
      table,
    );
    expect(table.count).toBe(rows);
    const [rare, another] = [table.covered[7] ?? 0, table.covered[8] ?? 0];
    expect(rare).toBeGreaterThan(another);
    // One of the two common ones counts, the other is left out.
    expect(table.weight - rare).toBeCloseTo(another, 4);
  });
});
