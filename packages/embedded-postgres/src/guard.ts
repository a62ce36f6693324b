import { type ChildProcess, type StdioNull, type StdioPipe, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { isMainThread } from 'node:worker_threads';
import { type Identity, toCommandUser } from './identity.js';
import { databaseEnvironment, runCommand } from './run-command.js';
import { startWatchdog } from './watchdog.js';

/** How a process is ended when this one dies: by the kernel (`setpriv --pdeathsig`), or by a watchdog process. */
export type GuardKind = 'setpriv' | 'watchdog';

/** A program of the database to start. */
export interface GuardedCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly identity: Identity;
  /** Where its standard output and standard error go: a descriptor, a pipe, or nowhere. */
  readonly output: StdioNull | StdioPipe | number;
}

/** Starts processes that get SIGINT when this process ends in whatever way, kill -9 included. */
export interface Guard {
  /** Resolves once the process is guarded and runs, in a session of its own so that Ctrl-C does not reach it. */
  spawn(command: GuardedCommand): Promise<ChildProcess>;
  /** Ends the guard; call it when the last process it started has ended. */
  release(): void;
}

/** Makes the best guard of this machine, or the one asked for. */
export async function makeGuard(pgCtl: string, kind?: GuardKind): Promise<Guard> {
  const chosen = kind ?? ((await hasParentDeathSignal()) ? 'setpriv' : 'watchdog');
  if (chosen === 'setpriv') {
    const prefix = ['setpriv', '--pdeathsig', 'INT', '--'];
    return { spawn: (command) => spawnGated(command, prefix, async () => undefined), release: () => undefined };
  }
  const watchdog = await startWatchdog(pgCtl);
  return { spawn: (command) => spawnGated(command, [], watchdog.watch), release: watchdog.release };
}

/** The kernel's signal comes at the end of the thread that spawned, so only the main thread may rely on it. */
async function hasParentDeathSignal(): Promise<boolean> {
  if (process.platform !== 'linux' || !isMainThread) return false;
  return (await runCommand(['setpriv', '--pdeathsig', 'INT', '--', 'true'])).ok;
}

/**
 * Waits for a line from us before it becomes the program. If we die before the guard holds, the line never comes and
 * the program never starts: no moment is left in which it could be orphaned.
 */
const GATE = 'read -r go <&3 || exit 125; exec 3<&-; exec "$@"';

async function spawnGated(
  { program, args, identity, output }: GuardedCommand,
  prefix: readonly string[],
  guard: (pid: number) => Promise<void>,
): Promise<ChildProcess> {
  // Windows has no gate: the watchdog learns the process id within the same turn of the event loop.
  const gate = process.platform === 'win32' ? [] : ['/bin/sh', '-c', GATE, 'sh'];
  const [command = program, ...rest] = [...identity.prefix, ...prefix, ...gate, program, ...args];
  const child = spawn(command, rest, {
    cwd: '/', // on Windows the root of the current drive
    env: databaseEnvironment(),
    detached: true,
    windowsHide: true,
    stdio: ['ignore', output, output, gate.length > 0 ? 'pipe' : 'ignore'],
    ...toCommandUser(identity),
  });
  // Not one after the other: without a gate the watchdog must hear of the process at once.
  await Promise.all([once(child, 'spawn'), openGate(child, guard)]);
  return child;
}

async function openGate(child: ChildProcess, guard: (pid: number) => Promise<void>): Promise<void> {
  const gate = child.stdio[3] as Duplex | null;
  gate?.on('error', () => undefined);
  try {
    if (child.pid !== undefined) await guard(child.pid);
    gate?.end('go\n');
  } catch (error) {
    gate?.destroy();
    child.kill('SIGKILL');
    throw error;
  }
}
