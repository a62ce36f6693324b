import { type Api, newOwnerKey, startApi } from '../api.js';
import { type Child, startChild, toServerEnvironment } from '../child.js';
import { type Cleanup, withCleanup } from '../cleanup.js';
import { type BenchDatabase, openDatabase, withClient } from '../database.js';
import type { ComparisonSettings } from '../dispatch/comparison.js';
import { COMPARISON_SCHEMA, createComparisonTable } from '../dispatch/comparison-table.js';
import { Door } from '../door.js';
import { type Measurement, type MeasureOptions, type Mode, measure } from '../load/measure.js';
import { newestProfile, profileToText } from '../profile.js';
import { checkReceipts, checkSamples, countReceipts, requireEqual } from '../receipts.js';
import { conclude, describeMachine, say } from '../report.js';
import { rotate } from '../rounds.js';
import { toSpread } from '../statistics.js';
import { spreadToText } from '../table.js';
import { ITEM_REQUEST, toItem, toItemRow } from './item.js';
import { MODE_TITLES, type ModeName, toModes } from './modes.js';
import { GOAL_CONNECTIONS, type HttpOptions, parseHttpOptions } from './options.js';
import { httpToText, type Load, toAdded, toCells, toHttpGoals } from './summary.js';

/** Calls of each mode before any is measured: V8 runs the first thousands three times as slowly as those after them. */
const WARM_UP_CALLS = 8_000;
const WARM_UP_MS = 1_000;

interface Parts {
  readonly database: BenchDatabase;
  readonly api: Api;
  readonly upstream: Child;
  readonly comparison: Child;
  readonly caller: Child;
  /** Of the row. */
  readonly key: string;
}

async function startParts(options: HttpOptions, cleanup: Cleanup): Promise<Parts> {
  const database = await openDatabase({ given: options.databaseUrl }, cleanup);
  const upstream = await startChild({ script: new URL('./upstream.js', import.meta.url) });
  cleanup.add(() => upstream.stop());
  const api = await startApi(database, { ownerKey: newOwnerKey(), profileDir: options.profileDir });
  cleanup.add(() => api.stop());
  const key = await addRow(api, upstream);
  const comparison = await startComparison(database, cleanup);
  const caller = await startChild({ script: new URL('../load/call-main.js', import.meta.url) });
  cleanup.add(() => caller.stop());
  return { database, api, upstream, comparison, caller, key };
}

async function startComparison({ url }: BenchDatabase, cleanup: Cleanup): Promise<Child> {
  await withClient(url, createComparisonTable);
  cleanup.add(() => withClient(url, (client) => client.query(`drop schema ${COMPARISON_SCHEMA} cascade`)));
  const comparison = await startChild({
    script: new URL('../dispatch/comparison.js', import.meta.url),
    env: toServerEnvironment(),
    settings: { databaseUrl: url } satisfies ComparisonSettings,
  });
  cleanup.add(() => comparison.stop());
  return comparison;
}

async function addRow(api: Api, upstream: Child): Promise<string> {
  const row = toItemRow(upstream.ready.url ?? '');
  const door = new Door(api);
  await door.create(row).finally(() => door.close());
  return row.key;
}

const toLoads = ({ connections, ratePerSecond }: HttpOptions): Load[] => [
  ...connections.map((count) => ({ connections: count, ratePerSecond: undefined })),
  ...(ratePerSecond === undefined ? [] : [{ connections: GOAL_CONNECTIONS, ratePerSecond }]),
];

/** Calls a mode until it has answered often enough to be as fast as it gets. */
async function warmUp(
  mode: Mode<ModeName>,
  shared: Pick<MeasureOptions, 'generator' | 'postgresPid'>,
): Promise<Measurement<ModeName>[]> {
  const all: Measurement<ModeName>[] = [];
  for (let answers = 0; answers < WARM_UP_CALLS; ) {
    const one = await measure(mode, {
      ...shared,
      connections: GOAL_CONNECTIONS,
      round: 0,
      durationMs: WARM_UP_MS,
    });
    all.push(one);
    answers += one.answers;
  }
  return all;
}

/** Measures all ways in turns under each load. Rounds outermost: what the machine does meanwhile falls on all alike. */
async function measureAll(
  modes: readonly Mode<ModeName>[],
  parts: Parts,
  options: HttpOptions,
): Promise<Measurement<ModeName>[]> {
  const shared = { generator: parts.caller, postgresPid: parts.database.pid };
  const all: Measurement<ModeName>[] = [];
  for (const mode of modes) all.push(...(await warmUp(mode, shared)));
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const load of toLoads(options)) {
      for (const mode of rotate(modes, round)) {
        all.push(await measure(mode, { ...shared, ...load, round, durationMs: options.durationMs }));
      }
    }
    process.stderr.write(`round ${round} of ${options.rounds} done\n`);
  }
  return all;
}

/** Measures, then counts that the upstream saw each request once and that every answer of the API has its receipt. */
async function measureAndVerify(parts: Parts, options: HttpOptions): Promise<Measurement<ModeName>[]> {
  const { upstream, key } = parts;
  const modes = toModes(parts);
  const countServed = async () => (await upstream.ask<{ served: number }>({})).served;
  return withClient(parts.database.url, async (client) => {
    const before = { receipts: await countReceipts(client, key), served: await countServed() };
    const all = await measureAll(modes, parts, options);
    const answersOf = (name: ModeName) =>
      all.filter(({ mode }) => mode === name).reduce((sum, { answers }) => sum + answers, 0);
    const dispatches = answersOf('dispatch');
    const direct = answersOf('direct') + answersOf('again');
    checkReceipts(before.receipts, await countReceipts(client, key), dispatches);
    requireEqual('upstream requests', (await countServed()) - before.served, dispatches + direct);
    const samples = all.filter(({ mode }) => mode === 'dispatch').flatMap((one) => one.samples);
    await checkSamples(client, samples, toItem(ITEM_REQUEST.body.note));
    say(`verified: ${dispatches} answers, as many receipts; ${samples.length} answers looked at as a whole`);
    return all;
  });
}

/** `bench http`: what a call through an http row costs beside the same request sent to the upstream itself. */
export async function runHttp(args: readonly string[]): Promise<number> {
  const options = parseHttpOptions(args);
  const { all, machine, loadSince } = await withCleanup(async (cleanup) => {
    const parts = await startParts(options, cleanup);
    const about = { machine: describeMachine(parts.database.settings), loadSince: process.hrtime.bigint() };
    return { ...about, all: await measureAndVerify(parts, options) };
  });
  // The warm-up is round 0: verified like the others, not counted.
  const measured = all.filter(({ round }) => round > 0);
  const cells = toCells(measured, toLoads(options));
  const added = toAdded(measured, toLoads(options));
  say(`\n${Object.values(MODE_TITLES).join('\n')}\n\n${httpToText(cells, added)}`);
  const others = toSpread(measured.map(({ othersCores }) => othersCores ?? Number.NaN));
  say(`\nother processes took ${spreadToText(others)} of ${machine.cores} cores meanwhile`);
  const { jsonFile, check, profileDir } = options;
  if (profileDir !== undefined) say(`\n${profileToText(newestProfile(profileDir), loadSince)}`);
  const rounds = measured.map(({ samples: _, ...figures }) => figures);
  const figures = { bench: 'http', machine, others, cells, added, rounds };
  return conclude({ goals: toHttpGoals(added, options.ratePerSecond), figures, jsonFile, check });
}
