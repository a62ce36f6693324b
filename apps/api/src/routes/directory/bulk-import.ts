import { AppError } from '@rowcall/errors';
import { type RowWrite, rowWriteSchema } from '@rowcall/protocol';
import { type Authorship, type RowChange, upsertRows, writeBulk } from '@rowcall/store';
import type { Context } from '../../context.js';
import type { NumberedLine } from './ndjson.js';
import { keepArgumentOrder, toRowChange } from './write.js';

/** Rows of one transaction. */
const BATCH_MAX = 500;
/** Errors that an answer lists; all are counted. */
const ERRORS_MAX = 1_000;

/** Why one line was not imported. */
export interface LineError {
  readonly line: number;
  readonly key?: string;
  readonly error: string;
  readonly message: string;
  readonly violations?: unknown;
}

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

type BulkTransaction = Parameters<typeof upsertRows>[0];

/** Ends a transaction that must leave nothing. */
class RollBack extends Error {}

/**
 * Imports rows as they arrive, a transaction per batch, or one for all when `atomic`. A bad line is reported by its
 * number and the rest stand.
 */
export async function importRows(
  context: Context,
  lines: AsyncIterable<NumberedLine>,
  options: ImportOptions,
): Promise<ImportReport> {
  const report: ImportReport = {
    dry_run: options.dryRun,
    atomic: options.atomic,
    lines: 0,
    created: 0,
    changed: 0,
    unchanged: 0,
    failed: 0,
    errors: [],
  };
  if (!options.atomic) {
    for await (const batch of toBatches(context, lines, report)) await writeBatch(context, batch, { options, report });
    return report;
  }
  await inOneTransaction(context, lines, { options, report });
  return report;
}

interface Import {
  readonly options: ImportOptions;
  readonly report: ImportReport;
}

async function writeBatch(context: Context, batch: readonly RowChange[], { options, report }: Import): Promise<void> {
  await rollingBack(options.dryRun, context, options, async (tx) => count(report, batch, await upsertRows(tx, batch)));
}

async function inOneTransaction(
  context: Context,
  lines: AsyncIterable<NumberedLine>,
  { options, report }: Import,
): Promise<void> {
  await writeBulk(context.store.db, options, async (tx) => {
    for await (const batch of toBatches(context, lines, report)) {
      if (report.failed === 0) count(report, batch, await upsertRows(tx, batch));
    }
    if (report.failed > 0 || options.dryRun) throw new RollBack();
  }).catch(ignoreRollBack);
  if (report.failed > 0) Object.assign(report, { created: 0, changed: 0, unchanged: 0 });
}

async function rollingBack(
  dryRun: boolean,
  context: Context,
  author: Authorship,
  work: (tx: BulkTransaction) => Promise<void>,
): Promise<void> {
  await writeBulk(context.store.db, author, async (tx) => {
    await work(tx);
    if (dryRun) throw new RollBack();
  }).catch(ignoreRollBack);
}

function ignoreRollBack(error: unknown): void {
  if (!(error instanceof RollBack)) throw error;
}

function count(
  report: ImportReport,
  batch: readonly RowChange[],
  result: Awaited<ReturnType<typeof upsertRows>>,
): void {
  report.created += result.created.length;
  report.changed += result.changed.length;
  report.unchanged += batch.length - result.created.length - result.changed.length;
}

/** Groups good lines; a key that occurs again begins a new batch, so that the later line wins. */
async function* toBatches(
  context: Context,
  lines: AsyncIterable<NumberedLine>,
  report: ImportReport,
): AsyncGenerator<readonly RowChange[]> {
  let batch = new Map<string, RowChange>();
  for await (const line of lines) {
    report.lines += 1;
    const change = readLine(context, line, report);
    if (change === undefined) continue;
    if (batch.size >= BATCH_MAX || batch.has(change.row.key)) {
      yield [...batch.values()];
      batch = new Map();
    }
    batch.set(change.row.key, change);
  }
  if (batch.size > 0) yield [...batch.values()];
}

function readLine(context: Context, line: NumberedLine, report: ImportReport): RowChange | undefined {
  let key: string | undefined;
  try {
    const row = parseRow(line.text);
    key = row.key;
    return toRowChange(context, keepArgumentOrder(row));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    report.failed += 1;
    if (report.errors.length < ERRORS_MAX) report.errors.push(toLineError(line.number, key, error));
    return undefined;
  }
}

function parseRow(text: string): RowWrite {
  const value = parseLine(text);
  const parsed = rowWriteSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new AppError('invalid_row', `/${issue?.path.join('/') ?? ''} ${issue?.message}`);
}

function parseLine(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AppError('invalid_json', (error as Error).message.slice(0, 200), { cause: error });
  }
}

function toLineError(line: number, key: string | undefined, error: AppError): LineError {
  const { violations } = error.details;
  return {
    line,
    error: error.code,
    message: error.message,
    ...(key === undefined ? {} : { key }),
    ...(violations === undefined ? {} : { violations }),
  };
}
