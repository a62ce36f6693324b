import { checkHygiene } from '@rowcall/contract';
import { describe, expect, it } from 'vitest';
import { makeBenchRow } from './rows.js';

const rows = Array.from({ length: 1_000 }, (_, index) => makeBenchRow(index));

describe('rows of the propagation bench', () => {
  it('break no rule that rows of people have to keep', () => {
    expect(rows.flatMap((row) => checkHygiene(row))).toEqual([]);
  });

  it('are all different, and some have a schema', () => {
    expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
    expect(rows.filter(({ input_schema: schema }) => schema !== null).length).toBe(300);
  });

  it('change with their revision in the text that is searched, and not in their key', () => {
    const changed = makeBenchRow(7, 3);
    expect(changed.key).toBe(makeBenchRow(7).key);
    expect(changed.content).not.toBe(makeBenchRow(7).content);
  });
});
