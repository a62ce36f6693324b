import type { NewAsk } from '@rowcall/store';
import { describe, expect, it } from 'vitest';
import { RecentAsks } from './recent-asks.js';

const make = (question: string, keys: readonly string[] = ['NOW']): NewAsk => ({
  id: `ask of ${question}`,
  at: '2026-05-01T12:00:00.000Z',
  actor: 'owner',
  question,
  keys,
  best: null,
  confidence: 0,
  category: null,
  times: 1,
});
const OWNER = { actor: 'owner' };

describe('recent asks', () => {
  it('know a question of the same caller for a minute from the first', () => {
    let now = 0;
    const recent = new RecentAsks(() => now);
    const ask = make('when');
    recent.add(OWNER, ask);
    now = 59_999;
    expect(recent.find(OWNER, 'when', ['NOW'])).toBe(ask);
    expect(recent.find({ actor: 'cap:a' }, 'when', ['NOW'])).toBeUndefined();
    expect(recent.find(OWNER, 'where', ['NOW'])).toBeUndefined();
    now = 60_000;
    expect(recent.find(OWNER, 'when', ['NOW'])).toBeUndefined();
  });

  it('tell callers without a credential apart by their address', () => {
    const recent = new RecentAsks(() => 0);
    recent.add({ actor: 'anyone', address: 'a' }, make('when'));
    expect(recent.find({ actor: 'anyone', address: 'a' }, 'when', ['NOW'])).toBeDefined();
    expect(recent.find({ actor: 'anyone', address: 'b' }, 'when', ['NOW'])).toBeUndefined();
  });

  it('take a question for new that is answered otherwise', () => {
    const recent = new RecentAsks(() => 0);
    recent.add(OWNER, make('when'));
    for (const keys of [[], ['NOW', 'ECHO'], ['ECHO']]) expect(recent.find(OWNER, 'when', keys)).toBeUndefined();
    recent.add(OWNER, make('when', ['ECHO']));
    expect(recent.find(OWNER, 'when', ['ECHO'])).toBeDefined();
  });

  it('forget the oldest beyond ten thousand', () => {
    const recent = new RecentAsks(() => 0);
    for (let n = 0; n <= 10_000; n += 1) recent.add(OWNER, make(`question ${n}`));
    expect(recent.find(OWNER, 'question 0', ['NOW'])).toBeUndefined();
    expect(recent.find(OWNER, 'question 1', ['NOW'])).toBeDefined();
  });
});
