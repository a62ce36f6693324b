import type { Effect } from '@rowcall/protocol';
import { makeRow } from '@rowcall/testing';
import { describe, expect, test } from 'vitest';
import { Entry } from './entry.js';
import { SharedTexts } from './shared-texts.js';

/** Entries that know each other; the "hash" is the text itself, so that tests can see what went in. */
function makeEntries(rows: Parameters<typeof makeRow>[0][], sha256: (text: string) => string = (text) => text) {
  const entries = new Map<string, Entry>();
  const context = {
    functionEffect: () => 'read' as const,
    sha256,
    find: (key: string) => entries.get(key),
    texts: new SharedTexts(),
  };
  for (const row of rows) {
    const full = { ...makeRow(row), version: 1, created_at: '', updated_at: '' };
    entries.set(row.key, new Entry(full, context));
  }
  return entries;
}

describe("an entry's fingerprint", () => {
  test('changes with the rows that it includes', () => {
    const rows = [{ key: 'AGENT', type: 'agent' as const, includes: ['BLOCK'] }, { key: 'BLOCK' }];
    const before = makeEntries(rows).get('AGENT')?.fingerprint;
    const [agent, block] = rows;
    const after = makeEntries([agent ?? { key: '' }, { ...block, key: 'BLOCK', target: 'UPPER' }]).get('AGENT');
    expect(after?.fingerprint).not.toBe(before);
  });

  test('follows an include that is replaced in the same process', () => {
    const entries = makeEntries([{ key: 'AGENT', type: 'agent', includes: ['BLOCK'] }, { key: 'BLOCK' }]);
    const before = entries.get('AGENT')?.fingerprint;
    const replaced = makeEntries([{ key: 'BLOCK', target: 'UPPER' }]).get('BLOCK');
    if (replaced !== undefined) entries.set('BLOCK', replaced);
    expect(entries.get('AGENT')?.fingerprint).not.toBe(before);
  });

  test('tells of the function that its effect tells of, however late it is asked for', () => {
    let declared: Effect = 'read';
    const context = {
      functionEffect: () => declared,
      sha256: (text: string) => text,
      find: () => undefined,
      texts: new SharedTexts(),
    };
    const row = { ...makeRow({ key: 'ROW', type: 'fn' }), version: 1, created_at: '', updated_at: '' };
    const [early, late] = [new Entry(row, context), new Entry(row, context)];
    const before = early.fingerprint;
    declared = 'destructive';
    expect([late.effect, late.fingerprint]).toEqual(['read', before]);
    expect(new Entry(row, context).fingerprint).not.toBe(before);
  });

  test('takes few hashes for many rows that include each other', () => {
    const keys = Array.from({ length: 20 }, (_, number) => `ROW_${number}`);
    let hashes = 0;
    const entries = makeEntries(
      keys.map((key) => ({ key, type: 'agent', includes: keys })),
      () => {
        hashes += 1;
        return 'h';
      },
    );
    expect(entries.get('ROW_0')?.fingerprint).toBe('h');
    expect(hashes).toBeLessThanOrEqual(20 * 9);
  });
});
