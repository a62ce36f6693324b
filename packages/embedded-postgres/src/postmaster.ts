import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Binaries } from './binaries.js';
import type { Guard } from './guard.js';
import type { Identity } from './identity.js';
import { boundLog, openLog, readLogTail, toLogPath } from './log-file.js';
import { type LaunchPlan, toPostgresArguments } from './options.js';
import { type PidFile, parsePidFile } from './pid-file.js';
import { runCommand } from './run-command.js';

/** How a postmaster ended. */
export interface PostmasterExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last lines it wrote, at most 20. */
  readonly log: string;
}

/** A postmaster that this process started. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  /** Resolves when the process is gone, for whatever reason. */
  readonly exit: Promise<PostmasterExit>;
  /** Ends it: fast shutdown, after `graceMs` immediate shutdown, then SIGKILL. Resolves when the process is gone. */
  stop(graceMs: number): Promise<void>;
}

/** What {@link spawnPostmaster} needs. */
export interface PostmasterLaunch {
  readonly plan: LaunchPlan;
  readonly port: number;
  readonly binaries: Binaries;
  readonly identity: Identity;
  readonly guard: Guard;
}

const QUIT_MS_MAX = 3_000;

/** Starts a postmaster; it is not ready yet. The process holds no program open. */
export async function spawnPostmaster(launch: PostmasterLaunch): Promise<Postmaster> {
  const { plan, port, binaries, identity, guard } = launch;
  const logPath = toLogPath(plan.dir);
  const log = await openLog(logPath);
  try {
    const offset = (await log.stat()).size;
    const args = toPostgresArguments(plan, port);
    const child = await guard.spawn({ program: binaries.postgres, args, identity, output: log.fd });
    child.unref();
    const exit = waitForExit(child, () => readLogTail(logPath, offset));
    const unbound = boundLog(logPath);
    void exit.then(unbound);
    return {
      pid: child.pid ?? 0,
      port,
      exit,
      stop: (graceMs) => stopChild({ child, exit, pgCtl: binaries.pgCtl, graceMs }),
    };
  } finally {
    await log.close();
  }
}

function waitForExit(child: ChildProcess, readLog: () => Promise<string>): Promise<PostmasterExit> {
  return new Promise((resolve) => {
    const settle = async (code: number | null, signal: NodeJS.Signals | null) =>
      resolve({ code, signal, log: await readLog() });
    if (child.exitCode !== null || child.signalCode !== null) void settle(child.exitCode, child.signalCode);
    else child.once('exit', settle);
  });
}

interface Stopping {
  readonly child: ChildProcess;
  readonly exit: Promise<unknown>;
  readonly pgCtl: string;
  readonly graceMs: number;
}

async function stopChild({ child, exit, pgCtl, graceMs }: Stopping): Promise<void> {
  child.ref();
  const isGone = async (ms: number) => {
    const late = new AbortController();
    const timeout = sleep(ms, false, { signal: late.signal }).catch(() => false);
    const gone = await Promise.race([exit.then(() => true), timeout]);
    late.abort();
    return gone;
  };
  await sendSignal(child, pgCtl, 'SIGINT');
  if (await isGone(graceMs)) return;
  await sendSignal(child, pgCtl, 'SIGQUIT');
  if (await isGone(Math.min(graceMs, QUIT_MS_MAX))) return;
  child.kill('SIGKILL');
  await exit;
}

/** Windows has no signals: there `pg_ctl kill` writes to the pipe that the postmaster listens to. */
async function sendSignal(child: ChildProcess, pgCtl: string, signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
  if (process.platform !== 'win32') child.kill(signal);
  else await runCommand([pgCtl, 'kill', signal.slice(3), String(child.pid)]);
}

/** Reads the `postmaster.pid` of a data folder, if there is one that names a process. */
export async function findPidFile(dir: string): Promise<PidFile | undefined> {
  return parsePidFile(await readFile(join(dir, 'postmaster.pid'), 'utf8').catch(() => ''));
}

const READY_MS_MAX = 600_000;

/** Waits until the postmaster takes connections; recovery may take long, so up to ten minutes. False if it ended first. */
export async function waitUntilReady(dir: string, postmaster: Postmaster): Promise<boolean> {
  let ended = false;
  void postmaster.exit.then(() => {
    ended = true;
  });
  const deadline = Date.now() + READY_MS_MAX;
  while (!ended && Date.now() < deadline) {
    const found = await findPidFile(dir);
    if (found?.pid === postmaster.pid && found.ready) return true;
    await sleep(10);
  }
  return false;
}
