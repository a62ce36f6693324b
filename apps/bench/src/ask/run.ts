import { Catalogue } from '@rowcall/catalogue';
import { silentLog } from '@rowcall/protocol';
import { openStore } from '@rowcall/store';
import { type Api, newOwnerKey, startApi } from '../api.js';
import { startBackground } from '../background.js';
import { startCatalogue } from '../catalogue.js';
import { type Cleanup, withCleanup } from '../cleanup.js';
import { openDatabase } from '../database.js';
import { Door } from '../door.js';
import { loadRows } from '../load-rows.js';
import { watchOthers } from '../others.js';
import { readResidentMb } from '../process-table.js';
import { conclude, describeMachine, say } from '../report.js';
import { Asker } from './asker.js';
import { Changes } from './changes.js';
import { measureSearch } from './engine.js';
import { type AskOptions, parseAskOptions } from './options.js';
import { makeQuestions } from './questions.js';
import { makeAskRow } from './rows.js';
import { type AskFigures, askToText, type HttpFigures, toAskGoals } from './summary.js';

const WARM_UP = 500;

async function startParts(rows: number, cleanup: Cleanup) {
  const database = await openDatabase({ given: undefined, settings: { max_wal_size: '4GB' } }, cleanup);
  const store = openStore({ url: database.url, name: 'rowcall-bench-load', log: silentLog });
  await loadRows(store, rows, makeAskRow).finally(() => store.close());
  process.stderr.write(`${rows} rows loaded\n`);
  const api = await startApi(database, { ownerKey: newOwnerKey() });
  cleanup.add(() => api.stop());
  const door = new Door(api);
  cleanup.add(() => door.close());
  return { database, api, door };
}

/** Asks over HTTP, and as often whether the process lives, in the same minute. */
async function measureHttp(api: Api, questions: readonly string[], connections: number): Promise<HttpFigures> {
  const asker = new Asker(api, connections);
  try {
    await asker.ask(questions.slice(0, WARM_UP));
    const ask = await asker.ask(questions);
    return { connections, ask, livez: await asker.ping(questions.length) };
  } finally {
    await asker.close();
  }
}

/** Search of this process: over a catalogue of its own, that is gone before HTTP is measured, so as not to take its time. */
async function measureEngine(url: string, questions: readonly string[]) {
  const { catalogue, stop } = await startCatalogue(url, (options) => new Catalogue(options));
  try {
    await measureSearch(catalogue, questions.slice(0, WARM_UP));
    return await measureSearch(catalogue, questions);
  } finally {
    await stop();
  }
}

async function measureSize(rows: number, options: AskOptions, cleanup: Cleanup) {
  const { requests, seed, connections, changesPerSecond } = options;
  const { database, api, door } = await startParts(rows, cleanup);
  const machine = describeMachine(database.settings);
  const questions = makeQuestions(requests, { rows, seed });
  const changes = new Changes(door, rows);
  const othersSince = watchOthers(database.pid);
  const background = startBackground((turn) => changes.make(turn), changesPerSecond);
  const engine = await measureEngine(database.url, questions);
  const http: HttpFigures[] = [];
  for (const count of connections) http.push(await measureHttp(api, questions, count));
  const changed = await background.stop();
  const figures: AskFigures = {
    rows,
    engine,
    http,
    changesPerSecond: changed,
    apiMb: readResidentMb(api.pid),
    readyMs: api.readyMs,
    othersCores: othersSince(),
  };
  return { machine, figures };
}

/** `bench ask`: how long a question takes in catalogues of several sizes, while their rows are changed. */
export async function runAsk(args: readonly string[]): Promise<number> {
  const options = parseAskOptions(args);
  const measured: Awaited<ReturnType<typeof measureSize>>[] = [];
  for (const rows of options.rows) {
    measured.push(await withCleanup((cleanup) => measureSize(rows, options, cleanup)));
    process.stderr.write(`${rows} rows done\n`);
  }
  const all = measured.map(({ figures }) => figures);
  say(askToText(all));
  const { jsonFile, check, requests, seed } = options;
  const figures = { bench: 'ask', machine: measured[0]?.machine, requests, seed, sizes: all };
  return conclude({ goals: toAskGoals(all), figures, jsonFile, check });
}
