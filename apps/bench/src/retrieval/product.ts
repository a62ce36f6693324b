import { toCapabilityDocument } from '@rowcall/catalogue';
import type { Row } from '@rowcall/protocol';
import { Resolver } from '@rowcall/resolver';
import { toRanking } from './ranking.js';
import type { Search } from './systems.js';

/** The product's own search, by the way that its catalogue takes a row. */
export function buildProduct(rows: readonly Row[]): Search {
  const resolver = new Resolver();
  for (const row of rows) resolver.upsert(toCapabilityDocument(row));
  return (question, limit) => toRanking(resolver.search(question, { limit }));
}
