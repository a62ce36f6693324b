import { silentLog } from '@rowcall/protocol';
import { migrate, openStore } from '@rowcall/store';
import { type Api, newOwnerKey, startApi } from '../api.js';
import { startChild } from '../child.js';
import { type Cleanup, withCleanup } from '../cleanup.js';
import { type BenchDatabase, openDatabase, withClient } from '../database.js';
import { type Measurement, type Mode, measure } from '../load/measure.js';
import { watchOthers } from '../others.js';
import { conclude, describeMachine, say } from '../report.js';
import { rotate } from '../rounds.js';
import { toSpread } from '../statistics.js';
import { spreadToText } from '../table.js';
import { type Asked, Asker } from './ask.js';
import { fillLedger } from './fill.js';
import { type LedgerOptions, parseLedgerOptions } from './options.js';
import { drawSample, type Question, toQuestions } from './questions.js';
import { type LedgerName, ledgerToText, toCallCells, toLedgerGoals, toQuestionCells } from './summary.js';

/** Room for the log of changes, so that loading does not write the same pages again and again. */
const SETTINGS = { max_wal_size: '4GB' };
const PROGRESS_EVERY = 500_000;
const WARM_UP_MS = 2_000;

interface Ledger {
  readonly name: LedgerName;
  readonly database: BenchDatabase;
  readonly api: Api;
}

async function fill(url: string, receipts: number, untilMs: number): Promise<number> {
  const store = openStore({ url, name: 'rowcall-bench-load', log: silentLog });
  await migrate(store).finally(() => store.close());
  const startedAt = performance.now();
  await fillLedger(url, { receipts, untilMs }, (done) => {
    if (done % PROGRESS_EVERY === 0) process.stderr.write(`${done} receipts loaded\n`);
  });
  return (performance.now() - startedAt) / 1_000;
}

/** Starts an API process on a database of its own, with as many receipts as are asked for. */
async function startLedger(
  name: LedgerName,
  { receipts, untilMs }: { receipts: number; untilMs: number },
  cleanup: Cleanup,
): Promise<Ledger> {
  const database = await openDatabase({ given: undefined, settings: SETTINGS }, cleanup);
  if (receipts > 0) say(`loaded ${receipts} receipts in ${(await fill(database.url, receipts, untilMs)).toFixed(0)} s`);
  const api = await startApi(database, { ownerKey: newOwnerKey() });
  cleanup.add(() => api.stop());
  return { name, database, api };
}

/** How often Postgres read the whole table of receipts since its start. */
async function countScans(url: string): Promise<number> {
  return await withClient(url, async (client) => {
    const { rows } = await client.query<{ scans: string }>(
      "select seq_scan as scans from pg_stat_user_tables where relname = 'receipt'",
    );
    return Number(rows[0]?.scans);
  });
}

/** Size of the table and of its indexes together, in GB (10^9 bytes). */
async function readSizes(url: string): Promise<{ tableGb: number; indexesGb: number }> {
  return await withClient(url, async (client) => {
    const { rows } = await client.query<{ table: string; indexes: string }>(
      "select pg_table_size('receipt') as table, pg_indexes_size('receipt') as indexes",
    );
    return { tableGb: Number(rows[0]?.table) / 1e9, indexesGb: Number(rows[0]?.indexes) / 1e9 };
  });
}

/** Asks every question in every round, in turns. The first round warms up and does not count. */
async function askAll(
  { api, database }: Ledger,
  questions: readonly Question[],
  options: LedgerOptions,
): Promise<Asked[]> {
  const asker = new Asker({ api, postgresPid: database.pid });
  const all: Asked[] = [];
  for (let round = 0; round <= options.rounds; round += 1) {
    const count = round === 0 ? Math.ceil(options.requests / 10) : options.requests;
    for (const question of rotate(questions, round + 1)) all.push(await asker.ask(question, { count, round }));
    process.stderr.write(`questions: round ${round} of ${options.rounds} done\n`);
  }
  await asker.close();
  return all.filter(({ round }) => round > 0);
}

const toMode = ({ name, api }: Ledger): Mode<LedgerName> => ({
  name,
  pid: api.pid,
  request: {
    url: `${api.url}/api/dispatch`,
    headers: { authorization: `Bearer ${api.ownerKey}` },
    body: JSON.stringify({ key: 'ECHO', body: 'hello' }),
    bodyStart: '{"ok":true',
  },
});

/** Calls on both ledgers, in turns. */
async function callAll(
  ledgers: readonly Ledger[],
  { rounds, connections: counts, durationMs }: LedgerOptions,
  cleanup: Cleanup,
): Promise<Measurement<LedgerName>[]> {
  const generator = await startChild({ script: new URL('../load/main.js', import.meta.url) });
  cleanup.add(() => generator.stop());
  const all: Measurement<LedgerName>[] = [];
  const call = async (ledger: Ledger, load: { connections: number; round: number; durationMs: number }) => {
    all.push(await measure(toMode(ledger), { generator, postgresPid: ledger.database.pid, ...load }));
  };
  for (const ledger of ledgers) await call(ledger, { connections: 16, round: 0, durationMs: WARM_UP_MS });
  for (let round = 1; round <= rounds; round += 1) {
    for (const connections of counts) {
      for (const ledger of rotate(ledgers, round)) await call(ledger, { connections, round, durationMs });
    }
    process.stderr.write(`calls: round ${round} of ${rounds} done\n`);
  }
  return all.filter(({ round }) => round > 0);
}

async function measureAll(options: LedgerOptions, cleanup: Cleanup) {
  const untilMs = Date.now();
  const full = await startLedger('full', { receipts: options.receipts, untilMs }, cleanup);
  const empty = await startLedger('empty', { receipts: 0, untilMs }, cleanup);
  const { url, pid, settings } = full.database;
  const machine = describeMachine(settings);
  const questions = toQuestions(await withClient(url, (client) => drawSample(client, untilMs)));
  const scansBefore = await countScans(url);
  const othersSince = watchOthers(pid);
  const asked = toQuestionCells(questions, await askAll(full, questions, options));
  const othersWhileAsked = othersSince();
  const scans = (await countScans(url)) - scansBefore;
  const calls = await callAll([full, empty], options, cleanup);
  return { machine, asked, othersWhileAsked, scans, calls, sizes: await readSizes(url) };
}

/** `bench ledger`: what questions to a ledger of many receipts cost, and whether calls mind how many there are. */
export async function runLedger(args: readonly string[]): Promise<number> {
  const options = parseLedgerOptions(args);
  const { machine, asked, othersWhileAsked, scans, calls, sizes } = await withCleanup((cleanup) =>
    measureAll(options, cleanup),
  );
  const called = toCallCells(calls);
  say(`\n${ledgerToText(asked, called)}`);
  say(`\nthe table takes ${sizes.tableGb.toFixed(2)} GB, its indexes ${sizes.indexesGb.toFixed(2)} GB`);
  const others = toSpread(
    [othersWhileAsked, ...calls.map(({ othersCores }) => othersCores)].map((it) => it ?? Number.NaN),
  );
  say(`other processes took ${spreadToText(others)} of ${machine.cores} cores meanwhile`);
  const { jsonFile, check, receipts } = options;
  const rounds = calls.map(({ samples: _, ...figures }) => figures);
  return conclude({
    goals: toLedgerGoals(asked, called, scans),
    figures: { bench: 'ledger', machine, receipts, others, sizes, questions: asked, calls: called, rounds },
    jsonFile,
    check,
  });
}
