import { describe, expect, it } from 'vitest';
import { checkReport, type ImportReport } from './upload.js';

const report: ImportReport = {
  lines: 1_001,
  created: 1_000,
  changed: 0,
  unchanged: 0,
  failed: 1,
  errors: [{ line: 501, error: 'invalid_json' }],
};

describe('the report of an import', () => {
  it('passes when every row is there and the bad line has its number', () => {
    expect(() => checkReport(report, 1_000)).not.toThrow();
  });

  it.each<[string, Partial<ImportReport>]>([
    ['a row was lost', { created: 999, failed: 2 }],
    ['a row had been there', { created: 999, unchanged: 1 }],
    ['the bad line was not told', { failed: 0, errors: [] }],
    ['the bad line has another number', { errors: [{ line: 500, error: 'invalid_json' }] }],
    ['the upload was not read to its end', { lines: 1_000 }],
  ])('fails when %s', (_, more) => {
    expect(() => checkReport({ ...report, ...more }, 1_000)).toThrow(/reported/);
  });
});
