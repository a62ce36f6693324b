import { describe, expect, it } from 'vitest';
import { type CapabilityDocument, Resolver } from './resolver.js';

const doc = (key: string, what: string, more: Partial<CapabilityDocument> = {}): CapabilityDocument => ({
  key,
  what,
  category: '',
  whenToUse: '',
  asks: '',
  argumentNames: '',
  argumentNotes: '',
  examples: '',
  rank: 100,
  demoted: false,
  pinnedFor: [],
  ...more,
});

const resolverOf = (...documents: CapabilityDocument[]): Resolver => {
  const resolver = new Resolver();
  for (const document of documents) resolver.upsert(document);
  return resolver;
};

const keysFor = (resolver: Resolver, question: string, limit = 12) =>
  resolver.search(question, { limit }).hits.map(({ key }) => key);

describe('Resolver', () => {
  it('ranks the row that does what is asked, and leaves out what only shares letters', () => {
    const resolver = resolverOf(
      doc('NOW', 'The current date and time.'),
      doc('WEATHER', 'Weather forecast for a place.'),
      doc('LIST_ITEMS', 'Items at a site.'),
    );
    expect(keysFor(resolver, 'what time is it')).toEqual(['NOW']);
  });

  it('reads identifiers as words', () => {
    expect(
      keysFor(resolverOf(doc('shareInvoice2Customer'.toUpperCase(), ''), doc('SHARE_INVOICE', '')), 'share invoices'),
    ).toEqual(['SHARE_INVOICE']);
  });

  it('keeps a row whose exact key stands in the question', () => {
    const crowd = Array.from({ length: 30 }, (_, index) => doc(`TIME_${index}`, 'time time time'));
    expect(keysFor(resolverOf(...crowd, doc('ZULU_CLOCK', 'other words')), 'time by ZULU_CLOCK')[0]).toBe('ZULU_CLOCK');
  });

  it('puts a pinned row first and a demoted one last', () => {
    const resolver = resolverOf(
      doc('A', 'send mail', { demoted: true }),
      doc('B', 'send mail'),
      doc('C', 'nothing alike', { pinnedFor: ['Send mail!'] }),
    );
    expect(keysFor(resolver, 'send mail')).toEqual(['C', 'B', 'A']);
  });

  it('breaks ties by rank and then by key, whatever the order of insertion', () => {
    const documents = [doc('D', 'same'), doc('C', 'same'), doc('E', 'same', { rank: 1 })];
    expect(keysFor(resolverOf(...documents), 'same')).toEqual(['E', 'C', 'D']);
    expect(keysFor(resolverOf(...documents.reverse()), 'same')).toEqual(['E', 'C', 'D']);
  });

  it('applies a filter inside the search, so that the limit is still filled', () => {
    const crowd = Array.from({ length: 50 }, (_, index) => doc(`K${index}`, 'same'));
    const { hits } = resolverOf(...crowd).search('same', { limit: 12, filter: (key) => Number(key.slice(1)) >= 30 });
    expect(hits).toHaveLength(12);
    expect(hits.every(({ key }) => Number(key.slice(1)) >= 30)).toBe(true);
  });

  it('forgets the old text of a row that was changed or removed', () => {
    const resolver = resolverOf(doc('A', 'apples'), doc('B', 'pears'));
    resolver.upsert(doc('A', 'plums'));
    resolver.remove('B');
    expect([keysFor(resolver, 'apples'), keysFor(resolver, 'plums'), keysFor(resolver, 'pears')]).toEqual([
      [],
      ['A'],
      [],
    ]);
  });

  it('forgets the vector of a row whose text was replaced or that was removed', () => {
    const resolver = resolverOf(doc('A', 'apples'), doc('B', 'pears'), doc('C', 'plums'));
    for (const key of ['A', 'B', 'C']) expect(resolver.setEmbedding(key, Int8Array.of(1, 2))).toBe(true);
    resolver.upsert(doc('A', 'plums'));
    resolver.remove('B');
    expect(resolver.embedded).toBe(1);
    expect(resolver.setEmbedding('B', Int8Array.of(1, 2))).toBe(false);
    resolver.setEmbedding('C', undefined);
    expect(resolver.embedded).toBe(0);
  });

  it('says how much of the question a hit covers', () => {
    const { hits } = resolverOf(doc('A', 'weather forecast')).search('weather mail', { limit: 1 });
    expect(hits[0]?.parts.coverage).toBeGreaterThan(0);
    expect(hits[0]?.parts.coverage).toBeLessThan(0.5);
  });

  it.each(['', '   ', 'the of and', '💥'.repeat(50_000), '\uD800', 'a'.repeat(1_000_000), '(((((['])(
    'answers the question %#, hostile as it is',
    (question) => expect(keysFor(resolverOf(doc('A', 'apples')), question)).toEqual([]),
  );
});
