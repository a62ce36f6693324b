import type { Hit } from '@rowcall/resolver';

/** What a system answers to a question. */
export interface Ranked {
  /** Best first, each once. */
  readonly keys: readonly string[];
  /** 0 to 1; undefined for a system that does not say. */
  readonly confidence?: number | undefined;
  /** Whether the system would answer with its best row; undefined for one that always does. */
  readonly fits?: boolean | undefined;
}

interface Ranking {
  readonly hits: readonly Hit[];
  readonly confidence?: number;
  readonly fits?: boolean;
}

/** The resolver's answer in the form that this bench compares. */
export function toRanking(found: readonly Hit[] | Ranking): Ranked {
  const { hits, confidence, fits }: Ranking = 'hits' in found ? found : { hits: found };
  return { keys: hits.map(({ key }) => key), confidence, fits };
}
