import { makeRow } from '@rowcall/testing';
import { expect, test } from 'vitest';
import { countRows } from './counts.js';

test('counts rows by four predicates, each narrower than the one before', () => {
  const rows = [
    { key: 'A' },
    { key: 'B', planner_visible: false },
    { key: 'C', enabled: false },
    { key: 'D', enabled: false, planner_visible: false },
    { key: 'TEST_E' },
    { key: '__F' },
    { key: 'ZZ_TEST_G', enabled: false },
    { key: 'ATEST_H' },
  ].map((row) => ({ ...makeRow(row), version: 1, created_at: '', updated_at: '' }));
  expect(countRows(rows)).toEqual({ rows: 8, enabled: 5, registry: 3, projected: 2 });
});
