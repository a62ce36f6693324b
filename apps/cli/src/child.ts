import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';

/** Log bytes after which a log begins anew at the next start. */
const LOG_BYTES_MAX = 10 * 1024 * 1024;
/** How long, in ms, a process gets to stop in order. */
const STOP_MS = 15_000;
const LOG_TAIL_LINES = 12;

/** A process of the server, and where its log is. */
export interface ChildOptions {
  readonly name: string;
  /** Its main file. */
  readonly script: string;
  readonly env: NodeJS.ProcessEnv;
  readonly logFile: string;
}

/** A process that was started and says that it is ready. */
export interface Child {
  readonly name: string;
  readonly pid: number;
  /** What it said when it was ready. */
  readonly ready: { readonly url?: string };
  /** Resolves with a description when it ended. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
  kill(): void;
}

function openLog(file: string): number {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return openSync(file, size > LOG_BYTES_MAX ? 'w' : 'a', 0o600);
}

function tailOf(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n');
}

/**
 * Starts a process and waits until it is ready. It has its own process group, so that Ctrl-C reaches only its parent,
 * and a channel to its parent, by which it notices when that is gone.
 * @throws Error with the end of its log, when it ends before it is ready.
 */
export async function startChild(options: ChildOptions): Promise<Child> {
  const log = openLog(options.logFile);
  const child = spawn(process.execPath, ['--enable-source-maps', options.script], {
    env: options.env,
    stdio: ['ignore', log, log, 'ipc'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  closeSync(log);
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : signal));
  });
  const ready = new Promise<Child['ready']>((resolve) =>
    child.once('message', (message) => resolve(message as Child['ready'])),
  );
  const first = await Promise.race([ready, ended]);
  if (typeof first === 'string') {
    throw new Error(
      `the ${options.name} did not start (${first}); the end of ${options.logFile}:\n${tailOf(options.logFile)}`,
    );
  }
  return {
    name: options.name,
    pid: child.pid ?? 0,
    ready: first,
    ended,
    stop: () => stopChild(child, ended),
    kill: () => void child.kill('SIGKILL'),
  };
}

async function stopChild(child: ChildProcess, ended: Promise<string>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  // Closing the channel asks for the stop on every platform; Windows has no SIGTERM.
  if (child.connected) child.disconnect();
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(timer);
}
