import { randomBytes } from 'node:crypto';
import { link, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureDatabase } from './database.js';
import { errorCode, errorText } from './error-text.js';
import type { LaunchPlan } from './options.js';
import { type ClusterSecrets, readClusterSecrets } from './passwords.js';
import { parsePidFile } from './pid-file.js';
import { findPidFile } from './postmaster.js';
import { hasProcess, isAlive, isForeignProcess } from './process-check.js';

/** A server that another process started on the folder, and that took our password. */
export interface RunningServer {
  readonly pid: number;
  readonly port: number;
  readonly secrets: ClusterSecrets;
}

const JOIN_MS_MAX = 60_000;
/** Answers of a server that starts or ends just now; a connection that breaks off has no code. */
const PASSING = new Set([undefined, '57P03', '57P01', '57P02', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE']);

/**
 * Joins the server that runs on the folder, waiting while it starts. Undefined if none runs, or if it ended meanwhile.
 * Throws if something runs there that does not answer with our password.
 */
export async function joinRunningServer(plan: LaunchPlan): Promise<RunningServer | undefined> {
  const deadline = Date.now() + JOIN_MS_MAX;
  let reason = 'it does not get ready';
  while (Date.now() < deadline) {
    const found = await findPidFile(plan.dir);
    if (found === undefined || !hasProcess(found.pid)) return undefined;
    if (await isForeignProcess(found.pid, plan.dir)) {
      await removeStalePidFile(plan.dir, found.pid);
      return undefined;
    }
    if (found.port !== undefined && found.ready) {
      const answer = await tryToJoin(plan, found.pid, found.port);
      if (typeof answer !== 'string') return answer;
      reason = answer;
    }
    await sleep(30);
  }
  throw new Error(
    `a Postgres seems to run on ${plan.dir} (see its postmaster.pid) but ${reason}: end it and start again`,
  );
}

async function tryToJoin(plan: LaunchPlan, pid: number, port: number): Promise<RunningServer | string> {
  const secrets = await readClusterSecrets(plan.dir);
  try {
    await ensureDatabase(plan, port, secrets);
    return { pid, port, secrets };
  } catch (error) {
    if (PASSING.has(errorCode(error)) || !isAlive(pid)) return errorText(error);
    throw new Error(
      `the Postgres that runs on ${plan.dir} (process ${pid}, port ${port}) does not take our password ` +
        `(${errorText(error)}): end it, choose another folder, or set DATABASE_URL`,
      { cause: error },
    );
  }
}

/**
 * Removes a pid file that names a foreign process. Moved aside first and looked at again: if a server started between
 * the two, the file is its own by now and goes back.
 */
async function removeStalePidFile(dir: string, pid: number): Promise<void> {
  const path = join(dir, 'postmaster.pid');
  const aside = `${path}.stale-${randomBytes(4).toString('hex')}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw new Error(`cannot remove the stale ${path} (${errorText(error)}): remove it by hand`);
  }
  const moved = parsePidFile(await readFile(aside, 'utf8').catch(() => ''));
  if (moved?.pid !== pid) await link(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
}
