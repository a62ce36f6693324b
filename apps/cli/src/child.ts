import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { toServerNodeOptions } from '@rowcall/process';
import type { Run } from './kept.js';
import { openLog } from './log-file.js';

/** How long, in ms, a process gets to stop in order. */
const STOP_MS = 15_000;

/** A process of the server, and where its log is. */
export interface ChildOptions {
  readonly name: string;
  /** Its main file. */
  readonly script: string;
  readonly env: NodeJS.ProcessEnv;
  readonly logFile: string;
  /** At an abort the process need not become ready. */
  readonly signal: AbortSignal;
}

/** What a process says when it is ready. */
export interface Ready {
  /** Address under which callers reach it. */
  readonly url?: string;
  /** Address that it listens on, where the other one is that of a proxy. */
  readonly address?: string;
}

/** A process that was started and said that it is ready. */
export interface Child extends Run {
  readonly pid: number;
  readonly ready: Ready;
  kill(): void;
}

/**
 * Starts a process and waits until it is ready. It has its own process group, so that Ctrl-C reaches only its parent,
 * and a channel to its parent, by which it notices when that is gone.
 * @throws Error with what its log says, when it ends before it is ready.
 */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { name, signal } = options;
  const log = openLog(options.logFile);
  const child = spawn(process.execPath, [options.script], {
    env: { ...options.env, NODE_OPTIONS: toServerNodeOptions(options.env.NODE_OPTIONS) },
    stdio: ['ignore', log.fd, log.fd, 'ipc'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  closeSync(log.fd);
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, killed) => resolve(killed === null ? `exit code ${code}` : killed));
  });
  const ready = new Promise<Ready>((resolve) => child.once('message', (message) => resolve(message as Ready)));
  const giveUp = () => {
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), STOP_MS).unref();
  };
  signal.addEventListener('abort', giveUp);
  const first = await Promise.race([ready, ended]);
  signal.removeEventListener('abort', giveUp);
  if (typeof first === 'string') throw new Error(`the ${name} did not start (${first}): ${log.explain()}`);
  return {
    pid: child.pid ?? 0,
    ready: first,
    ended,
    stop: () => stopChild(child, ended),
    kill: () => void child.kill('SIGKILL'),
  };
}

async function stopChild(child: ChildProcess, ended: Promise<string>): Promise<void> {
  // Closing the channel asks for the stop on every platform; Windows has no SIGTERM.
  if (child.connected) child.disconnect();
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(timer);
}
