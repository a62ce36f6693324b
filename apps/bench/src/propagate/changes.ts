import { setTimeout as sleep } from 'node:timers/promises';
import { readClockOffset, readCommits } from '../commits.js';
import type { Door } from '../door.js';
import { type Latency, toLatency } from '../statistics.js';
import { makeBenchRow } from './rows.js';
import type { Watcher } from './watcher.js';

/**
 * How long a change takes to be seen elsewhere, in ms, counted from three moments: when the PUT was sent, which takes
 * the writing in; when Postgres made the commit record, still before the disk had it; and when the PUT was answered,
 * which is negative where the other process had the row before the writer was told.
 */
export interface Propagation {
  /** Until process B answers the new version over HTTP, asked about every ms. */
  readonly sentToServed: Latency;
  /** NaN where the server does not keep commit times. */
  readonly committedToServed: Latency;
  readonly answeredToServed: Latency;
  /** Until a catalogue in the bench process holds it. */
  readonly sentToHeld: Latency;
  readonly committedToHeld: Latency;
  readonly answeredToHeld: Latency;
}

/** Where changes go in and come out. */
export interface Ends {
  readonly a: Door;
  readonly b: Door;
  readonly watcher: Watcher;
  readonly databaseUrl: string;
}

const POLL_MS = 1;
const PAUSE_MS = 8;
const VISIBLE_MS_MAX = 10_000;

/** Polls until `look` gives something. @returns when it did. */
async function waitFor(what: string, look: () => Promise<number | undefined>): Promise<number> {
  const until = performance.now() + VISIBLE_MS_MAX;
  while (performance.now() < until) {
    const at = await look();
    if (at !== undefined) return at;
    await sleep(POLL_MS);
  }
  throw new Error(`${what} was not seen within ${VISIBLE_MS_MAX} ms`);
}

interface Times {
  readonly key: string;
  readonly sent: number;
  readonly answered: number;
  readonly served: number;
  readonly held: number;
}

async function changeOne({ a, b, watcher }: Ends, index: number, revision: number): Promise<Times> {
  const row = makeBenchRow(index, revision);
  const version = watcher.versionOf(row.key) + 1;
  const name = `${row.key} version ${version}`;
  const sent = performance.now();
  const writing = a.replace(row).then((written) => {
    if (written !== version) throw new Error(`${name} was expected, ${written} was written`);
    return performance.now();
  });
  const serving = waitFor(name, async () => {
    const served = (await b.readVersion(row.key)) ?? 0;
    return served >= version ? performance.now() : undefined;
  });
  const [answered, served] = await Promise.all([writing, serving]);
  const held = await waitFor(name, async () => watcher.seenAt(row.key, version));
  return { key: row.key, sent, answered, served, held };
}

/** Makes `count` changes through A, one after the other, and measures when B has each. */
export async function measureChanges(ends: Ends, indexes: readonly number[], revision: number): Promise<Propagation> {
  const times: Times[] = [];
  for (const index of indexes) {
    times.push(await changeOne(ends, index, revision));
    await sleep(PAUSE_MS);
  }
  const clockOffset = readClockOffset();
  const commits = await readCommits(
    ends.databaseUrl,
    times.map(({ key }) => key),
  );
  const committed = ({ key }: Times) => (commits.get(key) ?? Number.NaN) - clockOffset;
  const latency = (read: (one: Times) => number) => toLatency(times.map(read));
  return {
    sentToServed: latency(({ sent, served }) => served - sent),
    committedToServed: latency((one) => one.served - committed(one)),
    answeredToServed: latency(({ answered, served }) => served - answered),
    sentToHeld: latency(({ sent, held }) => held - sent),
    committedToHeld: latency((one) => one.held - committed(one)),
    answeredToHeld: latency(({ answered, held }) => held - answered),
  };
}
