import { checkHygiene } from '@rowcall/contract';
import { rowWriteSchema } from '@rowcall/protocol';
import { describe, expect, it } from 'vitest';
import { makeImportRow, makeUpload, toBadLineNumber, toImportKey } from './lines.js';

const rows = [0, 99_900].flatMap((from) => Array.from({ length: 100 }, (_, offset) => makeImportRow(from + offset)));

describe('rows of the import bench', () => {
  it('break no rule that rows of people have to keep', () => {
    expect(rows.slice(50, 150).flatMap((row) => checkHygiene(rowWriteSchema.parse(row)))).toEqual([]);
  });

  it('have 400 to 700 bytes', () => {
    const sizes = rows.map((row) => JSON.stringify(row).length);
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(400);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(700);
  });

  it('are all different, and half of them have a schema that no other has', () => {
    expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
    const schemas = rows.flatMap((row) => ('input_schema' in row ? [JSON.stringify(row.input_schema)] : []));
    expect(schemas.length).toBe(rows.length / 2);
    expect(new Set(schemas).size).toBe(schemas.length);
  });
});

describe('the upload', () => {
  const lines = Buffer.concat([...makeUpload(1_000)])
    .toString('utf8')
    .trimEnd()
    .split('\n');

  it('has every row in order, and one bad line at the number that is told', () => {
    const [bad] = lines.splice(toBadLineNumber(1_000) - 1, 1);
    expect(() => JSON.parse(bad ?? '')).toThrow();
    expect(lines.map((line) => JSON.parse(line).key)).toEqual(
      Array.from({ length: 1_000 }, (_, index) => toImportKey(index)),
    );
  });

  it('comes in pieces', () => {
    expect([...makeUpload(1_000)].length).toBeGreaterThan(5);
  });
});
