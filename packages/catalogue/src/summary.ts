import type { Effect, Risk, Row } from '@rowcall/protocol';
import type { Entry } from './entry.js';

const WHAT_LENGTH_MAX = 200;

/** A row in few words. */
export interface Summary extends Pick<Row, 'key' | 'type' | 'category' | 'version'> {
  /** What it does, on one line of at most 200 characters. */
  readonly what: string;
  readonly effect: Effect;
  readonly risk: Risk;
}

/** Short description of a row. */
export function toSummary({ row, doc, effect, risk }: Entry): Summary {
  const what = (doc.what ?? '').replace(/\s+/g, ' ');
  return {
    key: row.key,
    type: row.type,
    category: row.category,
    what: what.length > WHAT_LENGTH_MAX ? `${what.slice(0, WHAT_LENGTH_MAX - 1)}…` : what,
    effect,
    risk,
    version: row.version,
  };
}
