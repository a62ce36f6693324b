import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { buildEngine } from '@rowcall/engine';
import { onStop, readCredential, readServerConfig, runMain } from '@rowcall/process';
import { Listener, migrate } from '@rowcall/store';
import { pino } from 'pino';
import { buildRowEmbedding } from './embeddings/build.js';
import { Runner } from './runner.js';

/** How long, in ms, calls under way get to finish at a stop. */
const GRACE_MS = 10_000;

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };

await runMain(async () => {
  const config = readServerConfig();
  const { databaseUrl, allowNets, timeZone, secretKey, functionFolder, lanes, concurrency } = config;
  const id = `runner_${randomBytes(8).toString('hex')}`;
  const log = pino({ name: 'rowcall-runner', level: config.logLevel, base: { pid: process.pid, runner: id } });
  const name = 'rowcall-runner';
  const registration = { id, lanes, concurrency, host: hostname(), pid: process.pid };
  const parts = buildEngine({
    databaseUrl,
    allowNets,
    timeZone,
    secretKey,
    functionFolder,
    name,
    version: manifest.version,
    log,
    readCredential,
    process: registration,
  });
  const { store, engine, housekeeping } = parts;
  const runner = new Runner({ runner: registration, store, engine, log, sweep: () => housekeeping.sweep() });
  const rowEmbedding = buildRowEmbedding(config.embeddings, { store, log, catalogue: parts.catalogue });
  const listener = new Listener({
    url: databaseUrl,
    name,
    log,
    subscriptions: [...parts.subscriptions, runner.subscription, ...rowEmbedding.subscriptions],
  });
  const stop = onStop(log, async () => {
    await runner.stop(GRACE_MS);
    await rowEmbedding.stop();
    await parts.drain(0);
    await listener.stop();
    await store.close();
  });
  try {
    await migrate(store);
    await parts.loadFunctions();
    await listener.start();
    await runner.start();
    log.info({ lanes, concurrency, rows: parts.catalogue.counts.rows }, 'ready');
    process.send?.({ ready: true });
  } catch (error) {
    log.fatal({ err: error }, 'cannot start');
    await stop(1);
  }
});
