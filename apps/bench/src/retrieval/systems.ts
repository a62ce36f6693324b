import type { Row } from '@rowcall/protocol';
import { buildMiniSearch, buildTunedMiniSearch } from './mini-search.js';
import { buildProduct } from './product.js';
import type { Ranked } from './ranking.js';
import { buildSubstring } from './substring.js';

/** Answers a question with as many rows as `limit` at the most. */
export type Search = (question: string, limit: number) => Ranked;
/** Makes an index of the rows. */
export type Build = (rows: readonly Row[]) => Search;

/** The product, and what it is compared with. */
export const SYSTEMS = {
  rowcall: buildProduct,
  substring: buildSubstring,
  minisearch: buildMiniSearch,
  'minisearch-tuned': buildTunedMiniSearch,
} as const satisfies Record<string, Build>;

export type SystemName = keyof typeof SYSTEMS;
export const SYSTEM_NAMES = Object.keys(SYSTEMS) as SystemName[];
