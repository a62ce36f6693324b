import type { Ranking } from '@rowcall/resolver';

/** What a system answers to a question. */
export interface Ranked {
  /** Best first, each once. */
  readonly keys: readonly string[];
  /** 0 to 1; undefined for a system that does not say. */
  readonly confidence?: number | undefined;
  /** Whether the system would answer with its best row; undefined for one that always does. */
  readonly fits?: boolean | undefined;
}

/** The resolver's answer in the form that this bench compares. */
export const toRanking = ({ hits, confidence, fits }: Ranking): Ranked => ({
  keys: hits.map(({ key }) => key),
  confidence,
  fits,
});
