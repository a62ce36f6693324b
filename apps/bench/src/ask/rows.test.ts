import { checkHygiene } from '@rowcall/contract';
import { describe, expect, it } from 'vitest';
import { makeAskRow, toCapability } from './rows.js';

const rows = Array.from({ length: 1_000 }, (_, index) => makeAskRow(index));

describe('rows of the ask bench', () => {
  it('break no rule that rows of people have to keep, and have keys of their own', () => {
    expect(rows.flatMap((row) => checkHygiene(row))).toEqual([]);
    expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
  });

  it('are the same each time, and change with their revision in what is searched alone', () => {
    expect(makeAskRow(3)).toEqual(rows[3]);
    const changed = makeAskRow(3, 7);
    expect({ ...changed, content: '' }).toEqual({ ...rows[3], content: '' });
    expect(changed.content).not.toBe(rows[3]?.content);
  });

  it('use few words often and many rarely', () => {
    const counts = new Map<string, number>();
    for (let index = 0; index < 10_000; index += 1) {
      const { object } = toCapability(index);
      counts.set(object, (counts.get(object) ?? 0) + 1);
    }
    const sorted = [...counts.values()].sort((a, b) => b - a);
    expect(sorted.length).toBeGreaterThan(100);
    expect(sorted[0]).toBeGreaterThan(1_000);
    expect(sorted.at(-1)).toBeLessThan(50);
  });
});
