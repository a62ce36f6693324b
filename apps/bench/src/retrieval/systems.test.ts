import { describe, expect, it } from 'vitest';
import { toRanking } from './ranking.js';
import { toToolRows } from './rows.js';
import { SYSTEMS } from './systems.js';

const { rows } = toToolRows([
  { id: '1', name: 'sendInvoice', description: 'Mails an invoice to a customer.' },
  { id: '2', name: 'list_flights', description: 'Flights that leave an airport.' },
  {
    id: '3',
    name: 'lookup',
    description: 'Finds a place.',
    schema: { type: 'object', properties: { latitude: { type: 'num', description: 'Degrees north.' } } },
  },
]);

describe.each(Object.entries(SYSTEMS))('%s', (_, build) => {
  const search = build(rows);

  it('finds a row by words of its name and of its description', () => {
    expect(search('invoice', 12).keys[0]).toBe('SEND_INVOICE');
    expect(search('airport', 12).keys).toEqual(['LIST_FLIGHTS']);
  });

  it('gives as many as it is asked for', () => {
    expect(search('invoice flights place', 2).keys).toHaveLength(2);
  });
});

describe('the systems', () => {
  it('differ: only the tuned ones know stems and leave stop words out', () => {
    const found = (name: 'minisearch' | 'minisearch-tuned', question: string) => SYSTEMS[name](rows)(question, 12).keys;
    expect(found('minisearch', 'mailing')).toEqual([]);
    expect(found('minisearch-tuned', 'mailing')).toEqual(['SEND_INVOICE']);
    expect(found('minisearch', 'that a')).not.toEqual([]);
    expect(found('minisearch-tuned', 'that a')).toEqual([]);
  });

  it('search names and descriptions of arguments', () => {
    expect(SYSTEMS.minisearch(rows)('latitude', 12).keys).toEqual(['LOOKUP']);
    expect(SYSTEMS['minisearch-tuned'](rows)('degrees', 12).keys).toEqual(['LOOKUP']);
  });
});

describe('an answer of the resolver', () => {
  it('is its keys, and how sure it is of them', () => {
    const hits = [{ key: 'NOW' }, { key: 'ECHO' }] as never;
    const ranking = { hits, confidence: 0.5, fits: false, steps: [] } as Parameters<typeof toRanking>[0];
    expect(toRanking(ranking)).toEqual({ keys: ['NOW', 'ECHO'], confidence: 0.5, fits: false });
  });
});
