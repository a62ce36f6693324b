import { choosePort, portTaken } from './ports.js';
import { type Postmaster, type PostmasterLaunch, spawnPostmaster, waitUntilReady } from './postmaster.js';

/** A ready postmaster, or the news that another server holds the folder, with the log that says so. */
export type LaunchResult =
  | { readonly kind: 'ready'; readonly postmaster: Postmaster }
  | { readonly kind: 'held'; readonly log: string };

const PORT_TRIES = 5;

/** Starts a postmaster and waits until it takes connections; takes another port when the first was lost meanwhile. */
export async function launchPostmaster(launch: Omit<PostmasterLaunch, 'port'>): Promise<LaunchResult> {
  const { plan } = launch;
  for (let tries = 1; ; tries += 1) {
    const port = await choosePort(plan);
    const postmaster = await spawnPostmaster({ ...launch, port });
    if (await waitUntilReady(plan.dir, postmaster)) return { kind: 'ready', postmaster };
    await postmaster.stop(0);
    const { code, signal, log } = await postmaster.exit;
    const failure = classifyFailure(log, postmaster.pid);
    if (failure === 'held') return { kind: 'held', log };
    if (failure !== 'port')
      throw new Error(`Postgres did not start on ${plan.dir} (${signal ?? code}). Its log:\n${log}`);
    if (plan.port !== undefined) throw portTaken(plan.port);
    if (tries === PORT_TRIES) throw new Error(`Postgres found no port that stays free. Its log:\n${log}`);
  }
}

/**
 * Why a postmaster did not start, by the lines that carry its own process id, since others may write to the same log:
 * another server (or the last sessions of a killed one) holds the folder, or the port was taken.
 */
export function classifyFailure(log: string, pid: number): 'held' | 'port' | 'other' {
  const lines = log.split('\n').filter((line) => line.includes(` [${pid}] `));
  const says = (pattern: RegExp) => lines.some((line) => pattern.test(line));
  if (says(/lock file "[^"]*" (already exists|is empty)|pre-existing shared memory block/)) return 'held';
  if (says(/could not bind|could not create any TCP\/IP sockets/)) return 'port';
  return 'other';
}
