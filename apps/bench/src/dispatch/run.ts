import { type Api, newOwnerKey, startApi } from '../api.js';
import { type Child, startChild, toServerEnvironment } from '../child.js';
import { type Cleanup, withCleanup } from '../cleanup.js';
import { type BenchDatabase, openDatabase, withClient } from '../database.js';
import { type Measurement, type Mode, measure } from '../load/measure.js';
import { newestProfile, profileToText } from '../profile.js';
import { checkSamples } from '../receipts.js';
import { conclude, describeMachine, say } from '../report.js';
import { rotate } from '../rounds.js';
import { toSpread } from '../statistics.js';
import { spreadToText } from '../table.js';
import type { ComparisonSettings } from './comparison.js';
import { COMPARISON_SCHEMA, createComparisonTable } from './comparison-table.js';
import { MODE_TITLES, type ModeName, toModes } from './modes.js';
import { type DispatchOptions, parseDispatchOptions } from './options.js';
import { summaryToText, toCells, toGoals, toRatios } from './summary.js';
import { checkWritten, countWritten } from './verify.js';

const WARM_UP_MS = 2_000;
const WARM_UP_CONNECTIONS = 64;

interface Parts {
  readonly database: BenchDatabase;
  readonly api: Api;
  readonly comparison: Child;
  readonly generator: Child;
}

async function startParts(options: DispatchOptions, cleanup: Cleanup): Promise<Parts> {
  const database = await openDatabase({ given: options.databaseUrl }, cleanup);
  const api = await startApi(database, { ownerKey: newOwnerKey(), profileDir: options.profileDir });
  cleanup.add(() => api.stop());
  await withClient(database.url, createComparisonTable);
  cleanup.add(() => withClient(database.url, (client) => client.query(`drop schema ${COMPARISON_SCHEMA} cascade`)));
  const script = new URL('./comparison.js', import.meta.url);
  const comparison = await startChild({
    script,
    env: toServerEnvironment(),
    settings: { databaseUrl: database.url } satisfies ComparisonSettings,
  });
  cleanup.add(() => comparison.stop());
  const generator = await startChild({ script: new URL('../load/main.js', import.meta.url) });
  cleanup.add(() => generator.stop());
  return { database, api, comparison, generator };
}

/** Measures every mode in turns. Rounds outermost: what the machine does meanwhile falls on all modes alike. */
async function measureAll(
  modes: readonly Mode<ModeName>[],
  parts: Parts,
  options: DispatchOptions,
): Promise<Measurement<ModeName>[]> {
  const { generator, database } = parts;
  const shared = { generator, postgresPid: database.pid };
  const all: Measurement<ModeName>[] = [];
  for (const mode of modes) {
    const warmUp = { ...shared, connections: WARM_UP_CONNECTIONS, round: 0, durationMs: WARM_UP_MS };
    all.push(await measure(mode, warmUp));
  }
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const connections of options.connections) {
      for (const mode of rotate(modes, round)) {
        all.push(await measure(mode, { ...shared, connections, round, durationMs: options.durationMs }));
      }
    }
    process.stderr.write(`round ${round} of ${options.rounds} done\n`);
  }
  return all;
}

/** Measures and then counts in the database that every answer left its rows. */
async function measureAndVerify(parts: Parts, options: DispatchOptions): Promise<Measurement<ModeName>[]> {
  const modes = toModes(options.modes, parts);
  return withClient(parts.database.url, async (client) => {
    const before = await countWritten(client);
    const all = await measureAll(modes, parts, options);
    const answersOf = (name: string) =>
      all.filter(({ mode }) => mode === name).reduce((sum, { answers }) => sum + answers, 0);
    const claimed = { dispatches: answersOf('dispatch'), inserts: answersOf('insert') };
    checkWritten(before, await countWritten(client), claimed);
    const samples = all.filter(({ mode }) => mode === 'dispatch').flatMap((one) => one.samples);
    await checkSamples(client, samples, 'hello');
    say(`verified: ${claimed.dispatches} answers, as many receipts; ${samples.length} answers looked at as a whole`);
    return all;
  });
}

/** `bench dispatch`: what a call with its receipt costs, beside the framework alone and one insert per request. */
export async function runDispatch(args: readonly string[]): Promise<number> {
  const options = parseDispatchOptions(args);
  const { all, machine, loadSince } = await withCleanup(async (cleanup) => {
    const parts = await startParts(options, cleanup);
    const about = { machine: describeMachine(parts.database.settings), loadSince: process.hrtime.bigint() };
    return { ...about, all: await measureAndVerify(parts, options) };
  });
  // The warm-up is round 0: verified like the others, not counted.
  const rounds = all.filter(({ round }) => round > 0).map(({ samples: _, ...figures }) => figures);
  const measured = all.filter(({ round }) => round > 0);
  const cells = toCells(measured);
  const ratios = toRatios(measured);
  say(`\n${options.modes.map((name) => MODE_TITLES[name]).join('\n')}\n\n${summaryToText(cells, ratios)}`);
  const others = toSpread(measured.map(({ othersCores }) => othersCores ?? Number.NaN));
  say(`\nother processes took ${spreadToText(others)} of ${machine.cores} cores meanwhile`);
  if (options.profileDir !== undefined) say(`\n${profileToText(newestProfile(options.profileDir), loadSince)}`);
  const { jsonFile, check } = options;
  const figures = { bench: 'dispatch', machine, others, cells, ratios, rounds };
  return conclude({ goals: toGoals(cells, ratios), figures, jsonFile, check });
}
