import { SCRATCH_KEY_PATTERN } from '@rowcall/protocol';
import type { HeldRow } from './entry.js';

/** A row that exists for callers: enabled, and not one that somebody made to try something. */
export const isInRegistry = (row: HeldRow): boolean => row.enabled && !SCRATCH_KEY_PATTERN.test(row.key);

/** A row of the registry that search and the MCP projection show. */
export const isProjected = (row: HeldRow): boolean => row.planner_visible && isInRegistry(row);

/** The four counts of a catalogue, each with its own predicate. */
export interface Counts {
  /** All rows. */
  readonly rows: number;
  /** Rows that are enabled. */
  readonly enabled: number;
  /** Enabled rows whose key is no scratch key. */
  readonly registry: number;
  /** Rows of the registry that are visible to planners. */
  readonly projected: number;
}

/** Counts rows by the four predicates. */
export function countRows(rows: Iterable<HeldRow>): Counts {
  const counts = { rows: 0, enabled: 0, registry: 0, projected: 0 };
  for (const row of rows) {
    counts.rows += 1;
    if (row.enabled) counts.enabled += 1;
    if (isInRegistry(row)) counts.registry += 1;
    if (isProjected(row)) counts.projected += 1;
  }
  return counts;
}
