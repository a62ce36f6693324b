import { realpath, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { findBinaries } from './binaries.js';
import { createCluster, hasCluster, makeParentFolder } from './cluster.js';
import { ensureDatabase, toDatabaseUrl } from './database.js';
import { type GuardKind, makeGuard } from './guard.js';
import { chooseIdentity, getClusterIdentity } from './identity.js';
import { launchPostmaster } from './launch.js';
import { toLogPath } from './log-file.js';
import { type EmbeddedPostgresOptions, type LaunchPlan, toLaunchPlan } from './options.js';
import { type ClusterSecrets, readClusterSecrets } from './passwords.js';
import type { Postmaster, PostmasterExit } from './postmaster.js';
import { waitUntilGone } from './process-check.js';
import { joinRunningServer } from './running-server.js';

/** How a server ended that nobody stopped. A server of another process tells neither code nor log. */
export type EmbeddedPostgresEnd = PostmasterExit;

/** A running embedded Postgres. */
export interface EmbeddedPostgres {
  /** Address for the role `rowcall`, which owns its database and is no superuser. Holds the password: never log it. */
  readonly url: string;
  /** Address for the superuser `postgres`, for tests and maintenance. Holds the password: never log it. */
  readonly superuserUrl: string;
  /** Process id of the postmaster. */
  readonly pid: number;
  /** Whether another process had started the server on this folder; it then ends with that process. */
  readonly reused: boolean;
  /** Resolves when the server ended by itself, crash included; stays open when it was stopped through `stop`. */
  readonly ended: Promise<EmbeddedPostgresEnd>;
  /**
   * Ends the server and resolves when its process is gone; an ephemeral one is then removed from disk. Does not wait for
   * clients, takes at most about 15 s, and may be called again. Does nothing to a server that was reused.
   */
  stop(): Promise<void>;
}

/** For the tests of this package. */
export interface LaunchInternals {
  readonly guard?: GuardKind;
  readonly stopGraceMs?: number;
}

const STOP_GRACE_MS = 10_000;
const START_MS_MAX = 60_000;

/**
 * Starts PostgreSQL 18 on a data folder, made at the first start, or joins the server that already runs on it. The
 * server listens on 127.0.0.1 alone, wants a password (SCRAM-SHA-256, RFC 7677), ignores Ctrl-C in a terminal, and ends by
 * itself within about two seconds when this process dies in whatever way. Throws an Error that says what to do.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  return await startWith(options, {});
}

/** {@link startEmbeddedPostgres}, with what tests must be able to choose. */
export async function startWith(
  options: EmbeddedPostgresOptions,
  internals: LaunchInternals,
): Promise<EmbeddedPostgres> {
  const checked = toLaunchPlan(options);
  await makeParentFolder(checked.dir);
  // A link must lead to the same folder for every start.
  const plan = { ...checked, dir: await realpath(checked.dir).catch(() => checked.dir) };
  const deadline = Date.now() + START_MS_MAX;
  for (;;) {
    const running = await joinRunningServer(plan);
    if (running !== undefined) return toReused(plan, running);
    const own = await launchOwn(plan, internals);
    if (own.kind === 'started') return own.server;
    if (Date.now() > deadline) {
      throw new Error(`data folder ${plan.dir} is held by another Postgres: end it and start again. Log:\n${own.log}`);
    }
    await sleep(50);
  }
}

type Launched =
  | { readonly kind: 'started'; readonly server: EmbeddedPostgres }
  | { readonly kind: 'held'; readonly log: string };

async function launchOwn(plan: LaunchPlan, internals: LaunchInternals): Promise<Launched> {
  const binaries = await findBinaries();
  const isNew = !(await hasCluster(plan.dir));
  const identity = await (isNew ? chooseIdentity : getClusterIdentity)(plan.dir, binaries);
  const guard = await makeGuard(binaries.pgCtl, internals.guard);
  try {
    if (isNew) await createCluster({ plan, binaries, identity, guard });
    const secrets = await readClusterSecrets(plan.dir);
    checkPurpose(plan, secrets);
    const launched = await launchPostmaster({ plan, binaries, identity, guard });
    if (launched.kind === 'held') {
      guard.release();
      return launched;
    }
    void launched.postmaster.exit.then(guard.release);
    const server = await toStarted(plan, launched.postmaster, secrets, internals);
    return { kind: 'started', server };
  } catch (error) {
    guard.release();
    throw error;
  }
}

function checkPurpose(plan: LaunchPlan, secrets: ClusterSecrets): void {
  if (plan.ephemeral === secrets.ephemeral) return;
  const made = secrets.ephemeral ? 'was made for tests and is not safe on disk' : 'holds lasting data';
  throw new Error(`data folder ${plan.dir} ${made}: choose another folder`);
}

async function toStarted(
  plan: LaunchPlan,
  postmaster: Postmaster,
  secrets: ClusterSecrets,
  { stopGraceMs = STOP_GRACE_MS }: LaunchInternals,
): Promise<EmbeddedPostgres> {
  await ensureDatabase(plan, postmaster.port, secrets).catch(async (error: unknown) => {
    await postmaster.stop(stopGraceMs);
    throw error;
  });
  let stopping: Promise<void> | undefined;
  const ended = new Promise<EmbeddedPostgresEnd>((resolve) => {
    void postmaster.exit.then((exit) => stopping ?? resolve(exit));
  });
  const stop = async () => {
    await postmaster.stop(stopGraceMs);
    if (plan.ephemeral) await removeFromDisk(plan.dir);
  };
  return {
    ...toUrls(plan, postmaster.port, secrets),
    pid: postmaster.pid,
    reused: false,
    ended,
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}

async function removeFromDisk(dir: string): Promise<void> {
  await rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  await rm(toLogPath(dir), { force: true });
}

function toReused(
  plan: LaunchPlan,
  running: { readonly pid: number; readonly port: number; readonly secrets: ClusterSecrets },
): EmbeddedPostgres {
  checkPurpose(plan, running.secrets);
  return {
    ...toUrls(plan, running.port, running.secrets),
    pid: running.pid,
    reused: true,
    ended: waitUntilGone(running.pid).then(() => ({ code: null, signal: null, log: '' })),
    stop: async () => undefined,
  };
}

function toUrls(
  plan: LaunchPlan,
  port: number,
  secrets: ClusterSecrets,
): Pick<EmbeddedPostgres, 'url' | 'superuserUrl'> {
  return {
    url: toDatabaseUrl(port, 'rowcall', secrets.rowcall, plan.database),
    superuserUrl: toDatabaseUrl(port, 'postgres', secrets.postgres, 'postgres'),
  };
}
