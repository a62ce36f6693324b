import { AppError } from '@rowcall/errors';
import { type Authorship, type BulkResult, listRows, upsertRows, writeBulk } from '@rowcall/store';
import type { Context } from '../../context.js';
import { type ImportedRow, type LineError, type LineListener, toBatches, toLineError } from './import-lines.js';
import type { NumberedLine } from './ndjson.js';

/** Errors that an answer lists; all are counted. */
const ERRORS_MAX = 1_000;
/** Rows that are read back at a time. */
const READ_MAX = 500;

/** What an import did, or would do. */
export interface ImportReport {
  readonly dry_run: boolean;
  readonly atomic: boolean;
  lines: number;
  created: number;
  changed: number;
  unchanged: number;
  failed: number;
  readonly errors: LineError[];
}

/** How an import is done. */
export interface ImportOptions extends Authorship {
  /** Writes nothing; says what would be written. */
  readonly dryRun: boolean;
  /** One transaction for all: one bad line, and nothing is written. */
  readonly atomic: boolean;
}

interface Import {
  readonly context: Context;
  readonly author: Authorship;
  readonly report: ImportReport;
}

/** Ends a transaction that must leave nothing. */
class RollBack extends Error {}

/**
 * Imports rows as they arrive, a transaction per batch, or one for all when `atomic`. A bad line is reported by its
 * number and the rest stand. When it returns, this process has what was written.
 */
export async function importRows(
  context: Context,
  lines: AsyncIterable<NumberedLine>,
  options: ImportOptions,
): Promise<ImportReport> {
  const { dryRun, atomic, actor, reason } = options;
  const report = { dry_run: dryRun, atomic, lines: 0, created: 0, changed: 0, unchanged: 0, failed: 0, errors: [] };
  const work: Import = { context, author: { actor, reason }, report };
  const batches = toBatches(context, lines, toListener(report));
  if (atomic || dryRun) await inOneTransaction(work, batches, options);
  else for await (const batch of batches) await writeBatch(work, batch);
  return report;
}

const toListener = (report: ImportReport): LineListener => ({
  onLine() {
    report.lines += 1;
  },
  onError(error) {
    report.failed += 1;
    if (report.errors.length < ERRORS_MAX) report.errors.push(error);
  },
});

/** Writes one batch. A row that the database refuses fails alone: the others are tried again without it. */
async function writeBatch(work: Import, batch: readonly ImportedRow[]): Promise<void> {
  const { context, author, report } = work;
  try {
    const changes = batch.map(({ change }) => change);
    const result = await writeBulk(context.store.db, author, (tx) => upsertRows(tx, changes));
    count(report, batch, result);
    await readBack(context, [...result.created, ...result.changed]);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const [first] = batch;
    if (first === undefined) return;
    if (batch.length === 1) return toListener(report).onError(toLineError(first.line, first.change.row.key, error));
    const middle = Math.ceil(batch.length / 2);
    await writeBatch(work, batch.slice(0, middle));
    await writeBatch(work, batch.slice(middle));
  }
}

/**
 * Writes all batches or none. A dry run is one transaction as well: what a later line does to the row of an earlier one
 * is counted as it would be.
 */
async function inOneTransaction(
  { context, author, report }: Import,
  batches: AsyncIterable<readonly ImportedRow[]>,
  { dryRun, atomic }: ImportOptions,
): Promise<void> {
  const written: string[] = [];
  const work = writeBulk(
    context.store.db,
    author,
    async (tx) => {
      for await (const batch of batches) {
        if (atomic && report.failed > 0) continue;
        const changes = batch.map(({ change }) => change);
        const result = await upsertRows(tx, changes);
        count(report, batch, result);
        written.push(...result.created, ...result.changed);
      }
      if (dryRun || report.failed > 0) throw new RollBack();
    },
    { alone: true },
  );
  await work.catch(ignoreRollBack);
  if (atomic && report.failed > 0) Object.assign(report, { created: 0, changed: 0, unchanged: 0 });
  if (!dryRun && report.failed === 0) await readBack(context, written);
}

function ignoreRollBack(error: unknown): void {
  if (!(error instanceof RollBack)) throw error;
}

function count(report: ImportReport, batch: readonly ImportedRow[], { created, changed }: BulkResult): void {
  report.created += created.length;
  report.changed += changed.length;
  report.unchanged += batch.length - created.length - changed.length;
}

/** Takes over what was written without waiting for notifications: whoever imported a row can call it at once. */
async function readBack({ store, catalogue }: Context, keys: readonly string[]): Promise<void> {
  for (let start = 0; start < keys.length; start += READ_MAX) {
    await catalogue.applyAll(await listRows(store.db, keys.slice(start, start + READ_MAX)));
  }
}
