import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { type Child, startChild, toServerEnvironment } from './child.js';
import type { BenchDatabase } from './database.js';

/** A running API process, the very program that a deployment runs. */
export interface Api extends Child {
  readonly url: string;
  readonly ownerKey: string;
  /** From the start of the process until it can answer, in ms. */
  readonly readyMs: number;
}

/** How an API is started. */
export interface ApiOptions {
  readonly ownerKey: string;
  /** Folder into which the process writes its CPU profile when it ends. */
  readonly profileDir?: string | undefined;
  /** Least severity that is logged, to stderr; `warn` when not given. */
  readonly logLevel?: 'warn' | 'error';
}

const SCRIPT = new URL('../../api/dist/main.js', import.meta.url);
/** Readings per second are enough to see where time goes, and cost little. */
const PROFILE_INTERVAL_US = 500;

/** A key for one run. */
export const newOwnerKey = (): string => `bench_${randomBytes(24).toString('base64url')}`;

/** Starts an API process on the database, with nothing of this process's own settings. */
export async function startApi(database: BenchDatabase, options: ApiOptions): Promise<Api> {
  const { ownerKey, profileDir, logLevel = 'warn' } = options;
  const startedAt = performance.now();
  const inherited = Object.entries(toServerEnvironment()).filter(([name]) => !name.startsWith('ROWCALL_'));
  const child = await startChild({
    script: SCRIPT,
    nodeOptions: profileDir === undefined ? [] : toProfileOptions(profileDir),
    env: {
      ...Object.fromEntries(inherited),
      DATABASE_URL: database.url,
      ROWCALL_OWNER_KEY: ownerKey,
      ROWCALL_PORT: '0',
      ROWCALL_LOG_LEVEL: logLevel,
      // What a run has written is counted at its end.
      ROWCALL_PAYLOAD_DAYS: '0',
      ROWCALL_ALLOW_NETS: '127.0.0.0/8',
      ROWCALL_DATA_DIR: path.join(database.folder, 'rowcall'),
    },
  });
  if (child.ready.url === undefined) throw new Error('the API did not say where it listens');
  return { ...child, url: child.ready.url, ownerKey, readyMs: performance.now() - startedAt };
}

const toProfileOptions = (dir: string): string[] => [
  '--cpu-prof',
  `--cpu-prof-dir=${path.resolve(dir)}`,
  `--cpu-prof-interval=${PROFILE_INTERVAL_US}`,
];
