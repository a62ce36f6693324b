import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { OWNER_KEY } from './test-api.js';

const SOURCES = path.resolve(import.meta.dirname, '../../../..');
const READY_MS_MAX = 30_000;

/** A process of its own, which a test may kill. */
export interface Killable {
  readonly pid: number;
  /** Address of an API; empty for a runner. */
  readonly url: string;
  /** Ends it with SIGKILL, and waits until it is gone. */
  kill(): Promise<void>;
}

/** Starts an API process. @param mode `hold`: a call that was opened there never fires. */
export const startKillableApi = (databaseUrl: string, mode: 'hold' | 'run'): Promise<Killable> =>
  start('apps/api/src/testing/held-api.mjs', databaseUrl, [mode]);

/** Starts a runner process. */
export const startKillableRunner = (databaseUrl: string): Promise<Killable> =>
  start('apps/runner/dist/main.js', databaseUrl, []);

async function start(module: string, databaseUrl: string, args: readonly string[]): Promise<Killable> {
  const child = fork(path.join(SOURCES, module), args, {
    env: { PATH: '/usr/bin:/bin', DATABASE_URL: databaseUrl, ROWCALL_OWNER_KEY: OWNER_KEY },
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const { url = '' } = await untilReady(child, module);
  return {
    pid: child.pid ?? 0,
    url,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function untilReady(child: ChildProcess, module: string): Promise<{ url?: string }> {
  const late = AbortSignal.timeout(READY_MS_MAX);
  const ended = once(child, 'exit', { signal: late }).then(([code]) => {
    throw new Error(`${module} ended with ${code} before it was ready`);
  });
  const [message] = (await Promise.race([once(child, 'message', { signal: late }), ended])) as [{ url?: string }];
  ended.catch(() => undefined);
  return message;
}
