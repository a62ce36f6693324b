import type { Receipt } from '@rowcall/protocol';
import { describe, expect, it } from 'vitest';
import { judgeReplay } from './judge-replay.js';

const make = (result: string | null, receipt: Partial<Receipt> = {}) => ({
  receipt: {
    id: 'inv_1',
    outcome: 'succeeded',
    output_hash: result,
    contract_fingerprint: 'f',
    ...receipt,
  } as Receipt,
  result,
});

describe('a replay', () => {
  it('is the same when the same bytes came out in the same way', () => {
    expect(judgeReplay(make('{"a":1}'), make('{"a":1}'))).toEqual({
      of: 'inv_1',
      verdict: 'same',
      outcomes: { before: 'succeeded', after: 'succeeded' },
    });
  });

  it('is different when the same came out of a run that failed', () => {
    expect(judgeReplay(make('null'), make('null', { outcome: 'failed' }))).toMatchObject({
      verdict: 'different',
      changes: [],
    });
  });

  it('is told by what really came out, though what is kept of it looks the same', () => {
    const [before, after] = [make('"[redacted]"', { output_hash: '1' }), make('"[redacted]"', { output_hash: '2' })];
    expect(judgeReplay(before, after)).toMatchObject({ verdict: 'different', changes: [] });
  });

  it('names what changed, with pointers from the top of the output', () => {
    expect(judgeReplay(make('{"a":1,"b":[1,2]}'), make('{"a":2,"b":[1]}')).changes).toEqual([
      { op: 'remove', path: '/b/1' },
      { op: 'replace', path: '/a', value: 2 },
    ]);
    expect(judgeReplay(make('1'), make('null')).changes).toEqual([{ op: 'replace', path: '', value: null }]);
  });

  it('compares nothing with an output that there is not: none is not an empty one', () => {
    const verdict = judgeReplay(make(null, { outcome: 'interrupted' }), make('null'));
    expect(verdict).toMatchObject({ verdict: 'different', outcomes: { before: 'interrupted', after: 'succeeded' } });
    expect(verdict).not.toHaveProperty('changes');
  });

  it('of another definition proves nothing, also when the same came out', () => {
    expect(judgeReplay(make('1'), make('1', { contract_fingerprint: 'g' })).verdict).toBe('definition_changed');
  });

  it('names 50 changes at the most, and says that there are more', () => {
    const [before, after] = [0, 1].map((value) => make(JSON.stringify(Array.from({ length: 80 }, () => value))));
    const verdict = judgeReplay(before ?? make(null), after ?? make(null));
    expect(verdict.changes).toHaveLength(50);
    expect(verdict.more).toBe(true);
  });

  it('compares no outputs that are too long', () => {
    const verdict = judgeReplay(make(JSON.stringify('x'.repeat(600_000))), make(JSON.stringify('y'.repeat(600_000))));
    expect(verdict.verdict).toBe('different');
    expect(verdict).not.toHaveProperty('changes');
  });
});
