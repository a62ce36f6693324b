import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { copyEnvironment, toServerNodeOptions } from '@rowcall/process';

/** How a process is started. */
export interface ChildOptions {
  /** Its main file, compiled. */
  readonly script: URL;
  /** Its environment; that of this process when not given. */
  readonly env?: NodeJS.ProcessEnv;
  /** What it is told over its channel before it gets ready. */
  readonly settings?: object;
  /** Options of Node itself. */
  readonly nodeOptions?: readonly string[];
}

/** This process's environment, with the options of Node that a deployed server has: servers are compared under the same. */
export function toServerEnvironment(): NodeJS.ProcessEnv {
  const env = copyEnvironment();
  return { ...env, NODE_OPTIONS: toServerNodeOptions(env.NODE_OPTIONS) };
}

/** A process that says over its channel when it is ready. */
export interface Child {
  readonly pid: number;
  /** What it said: where it listens, for one that does. */
  readonly ready: { readonly url?: string };
  /** Sends a message and gives the answer. @throws Error when the process ends instead. */
  ask<Answer>(message: object): Promise<Answer>;
  /** Closes the channel, by which it ends in order. */
  stop(): Promise<void>;
}

/** How long, in ms, a process gets to stop in order. */
const STOP_MS = 15_000;

/** Starts a process and waits until it is ready. Its log goes to stderr. @throws Error when it ends before. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const child = fork(options.script, {
    execArgv: [...(options.nodeOptions ?? [])],
    stdio: ['ignore', 2, 2, 'ipc'],
    ...(options.env === undefined ? {} : { env: options.env }),
  });
  if (options.settings !== undefined) child.send(options.settings);
  const ended = once(child, 'exit');
  const next = async () => {
    const abort = new AbortController();
    const message = once(child, 'message', { signal: abort.signal });
    const first = await Promise.race([message, ended.then(() => undefined)]);
    abort.abort();
    message.catch(() => undefined);
    if (first === undefined) throw new Error(`${options.script.pathname} ended; what it said is above`);
    return first[0] as unknown;
  };
  return {
    ready: (await next()) as Child['ready'],
    pid: child.pid ?? 0,
    async ask<Answer>(message: object) {
      child.send(message);
      return (await next()) as Answer;
    },
    stop: () => stopChild(child, ended),
  };
}

async function stopChild(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  if (child.connected) child.disconnect();
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(timer);
}
