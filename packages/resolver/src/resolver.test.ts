import { describe, expect, it } from 'vitest';
import type { LearnedPair } from './learned.js';
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
    const resolver = resolverOf(doc('A', 'apples'), doc('B', 'bridges'));
    resolver.upsert(doc('A', 'engines'));
    resolver.remove('B');
    expect([keysFor(resolver, 'apples'), keysFor(resolver, 'engines'), keysFor(resolver, 'bridges')]).toEqual([
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

  it('finds the same among thousands of rows that are as good, whatever the order of insertion', () => {
    const crowd = Array.from({ length: 5_000 }, (_, index) => doc(`K${index}`, 'same'));
    expect(keysFor(resolverOf(...crowd), 'same')).toEqual(keysFor(resolverOf(...crowd.reverse()), 'same'));
  });

  it('finds a row by a synonym, and by a word that is misspelt', () => {
    const resolver = resolverOf(
      doc('DELETE_FILE', 'Deletes a file.'),
      doc('WEATHER', 'Weather forecast of a place.'),
      doc('OTHER', 'Something else.'),
    );
    expect(keysFor(resolver, 'erase it')).toEqual(['DELETE_FILE']);
    expect(keysFor(resolver, 'waether')).toEqual(['WEATHER']);
  });

  it('prefers the word itself to its synonym', () => {
    const resolver = resolverOf(doc('A', 'erase a file'), doc('B', 'delete a file'), doc('C', 'something else'));
    expect(keysFor(resolver, 'delete a file')).toEqual(['B', 'A']);
  });

  it('finds by meaning what shares no word, where it is near', () => {
    const resolver = resolverOf(
      doc('INVOICES', 'Invoices and payments of customers, billing.'),
      doc('RECIPES', 'Recipes for cooking dinner with vegetables.'),
    );
    expect(keysFor(resolver, 'soup ingredients kitchen')).toEqual(['RECIPES']);
  });

  it('answers the rows of each step of a question that needs several, all of them among the hits', () => {
    const crowd = Array.from({ length: 30 }, (_, index) =>
      doc(`MAIL_${index}`, 'Mail to a person: send mail, mail Ann.'),
    );
    const resolver = resolverOf(doc('WEATHER', 'Current weather in a city.'), ...crowd);
    const { hits, steps } = resolver.search('get the weather in the city and send mail to the person Ann', {
      limit: 12,
    });
    expect(steps.map(({ clause, keys }) => [clause, keys[0]])).toEqual([
      ['get the weather in the city', 'WEATHER'],
      ['send mail to the person Ann', expect.stringMatching(/^MAIL_/)],
    ]);
    expect(hits).toHaveLength(12);
    expect(hits.map(({ key }) => key)).toContain('WEATHER');
  });

  it('answers no steps for a question that one row answers', () => {
    const resolver = resolverOf(doc('WEATHER', 'Weather of today and tomorrow in a city.'), doc('B', 'other'));
    expect(resolver.search('weather of today, weather of tomorrow', { limit: 12 }).steps).toEqual([]);
  });

  it('is sure of a row that fits, and says when none does', () => {
    const rows = ['Send a mail.', 'Weather forecast of a city.', 'Convert a currency.', 'Resize a picture.'];
    const resolver = resolverOf(...rows.map((what, index) => doc(`ROW_${index}`, what)));
    const fitting = resolver.search('weather forecast for the city of Oslo', { limit: 12 });
    const strange = resolver.search('reticulate seven splines beside a purple trombone in the city', { limit: 12 });
    expect(fitting).toMatchObject({ fits: true, hits: [{ key: 'ROW_1' }, ...fitting.hits.slice(1)] });
    expect(strange.fits).toBe(false);
    expect(fitting.confidence).toBeGreaterThan(0.3);
    expect(strange.confidence).toBeLessThan(0.15);
  });

  it('has no confidence where there is nothing', () => {
    expect(new Resolver().search('weather', { limit: 12 })).toEqual({
      hits: [],
      confidence: 0,
      fits: false,
      steps: [],
    });
  });

  it('lets calls decide between rows that are as good, whatever the order of the words, and between no others', async () => {
    const resolver = resolverOf(doc('A', 'send mail'), doc('B', 'send mail'), doc('C', 'something else'));
    const teach = (pairs: readonly LearnedPair[]) => resolver.setLearned(pairs, async () => undefined);
    await teach([
      { question: 'please mail, send', key: 'B', count: 3 },
      { question: 'send mail', key: 'C', count: 90 },
    ]);
    expect(keysFor(resolver, 'send mail')).toEqual(['B', 'A']);
    await teach([]);
    expect(keysFor(resolver, 'send mail')).toEqual(['A', 'B']);
  });

  it('ranks by the vectors of the embeddings service where the question has one', () => {
    const resolver = resolverOf(doc('A', 'same text'), doc('B', 'same text'));
    resolver.setEmbedding('A', Int8Array.of(127, 0));
    resolver.setEmbedding('B', Int8Array.of(0, 127));
    const ask = (embedding?: Float32Array) => resolver.search('same text', { limit: 2, embedding }).hits[0]?.key;
    expect([ask(), ask(Float32Array.of(0, 1)), ask(Float32Array.of(1, 0))]).toEqual(['A', 'B', 'A']);
  });

  it('tells what a score is made of, each part from 0 to 1', () => {
    const [hit] = resolverOf(doc('SEND_MAIL', 'Send a mail.'), doc('B', 'else')).search('send a mail', {
      limit: 1,
    }).hits;
    expect(hit?.parts).toMatchObject({ coverage: expect.closeTo(1, 6), name: 1, embedding: 0 });
    for (const part of Object.values(hit?.parts ?? {})) expect(part).toBeGreaterThanOrEqual(0);
    for (const part of Object.values(hit?.parts ?? {})) expect(part).toBeLessThanOrEqual(1.000_001);
  });
});

it('ranks a row that was changed again and again as one that never was', () => {
  const rows = Array.from({ length: 10 }, (_, index) => doc(`ROW_${index}`, `Send mail number ${index} to a person.`));
  const refund = doc('REFUND_INVOICE', 'Refund an invoice of a customer.');
  const changed = resolverOf(...rows, refund);
  for (let change = 0; change < 50; change += 1) changed.upsert(refund);
  const question = 'refund invoice and send mail';
  const [score = 0, fresh = 0] = [changed, resolverOf(...rows, refund)].map(
    (resolver) => resolver.search(question, { limit: 1 }).hits[0]?.score,
  );
  expect(keysFor(changed, question)[0]).toBe('REFUND_INVOICE');
  expect(Math.abs(score - fresh)).toBeLessThan(0.03);
});
