import type { Entry } from '@rowcall/catalogue';
import { buildContract, type Contract, contractToMarkdown, contractToSkill } from '@rowcall/contract';
import { AppError } from '@rowcall/errors';
import type { DoorContext } from '../context.js';
import { type Asker, toRunNow } from './run-now.js';

/** The forms that a contract can be read in. */
export type Format = 'json' | 'markdown' | 'skill';

/** A document, ready to be sent. */
export interface Document {
  readonly contentType: string;
  readonly text: string;
  /** What the search took, in ms, where there was one. */
  readonly engineMs?: number;
}

const SUGGESTIONS_MAX = 6;

/** Contracts that are kept: those that are read again and again are few. */
const KEPT_MAX = 1_000;
/** A row that changes or goes takes its contract with it. */
const kept = new WeakMap<Entry, Contract>();
/** Whose contracts are kept, as a ring: the oldest makes room. */
const keptFor: WeakRef<Entry>[] = [];
let oldestAt = 0;

function keep(entry: Entry, contract: Contract): void {
  if (!kept.has(entry)) {
    const oldest = keptFor[oldestAt]?.deref();
    if (oldest !== undefined) kept.delete(oldest);
    keptFor[oldestAt] = new WeakRef(entry);
    oldestAt = (oldestAt + 1) % KEPT_MAX;
  }
  kept.set(entry, contract);
}

/** The contract of an entry: to build one compiles its schema, so the last ones are kept. */
export function contractOf(context: DoorContext, entry: Entry): Contract {
  const { fingerprint, effect } = entry;
  const found = kept.get(entry);
  // A row that includes others changes with them.
  if (found?.fingerprint === fingerprint) return found;
  const contract = buildContract(entry.toRow(), { fingerprint, effect, baseUrl: context.baseUrl() });
  keep(entry, contract);
  return contract;
}

/** The entry of a key. @throws AppError unknown_key, for a disabled row as well: it is gone from every projection. */
export function getShown({ catalogue }: DoorContext, key: string): Entry {
  const entry = catalogue.find(key);
  if (entry?.row.enabled) return entry;
  throw new AppError('unknown_key', `no row has the key ${JSON.stringify(key.slice(0, 128))}`, {
    details: { did_you_mean: catalogue.nearest(key, SUGGESTIONS_MAX) },
  });
}

/** Reads one row's contract. @throws AppError unknown_key. */
export function readContract(
  context: DoorContext,
  key: string,
  { format, ...asker }: Asker & { format: Format },
): Document {
  const entry = getShown(context, key);
  const contract = contractOf(context, entry);
  if (format === 'markdown') return { contentType: 'text/markdown; charset=utf-8', text: contractToMarkdown(contract) };
  if (format === 'skill') return { contentType: 'text/markdown; charset=utf-8', text: contractToSkill(contract) };
  return {
    contentType: 'application/json; charset=utf-8',
    text: JSON.stringify({
      ...contract,
      ...toRunNow(context, entry, { example: contract.example, ...asker }),
      ...staleness(context),
    }),
  };
}

/** Said on every answer from memory while changes may have been missed. */
export function staleness({ catalogue }: DoorContext): { stale_since?: string } {
  return catalogue.staleSince === undefined ? {} : { stale_since: new Date(catalogue.staleSince).toISOString() };
}
