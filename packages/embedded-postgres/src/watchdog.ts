import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { databaseEnvironment } from './run-command.js';

/** A process that outlives this one by a moment, to end the database. */
export interface Watchdog {
  /** Resolves once the watchdog answers for this process id, in place of the one before. */
  watch(pid: number): Promise<void>;
  /** Ends the watchdog without harm to anything. */
  release(): void;
}

/**
 * The watchdog's program. Each line of its input is the process id to watch (0: none). When the input ends, our process
 * is gone: fast shutdown, after 10 s immediate shutdown, after 5 more SIGKILL. A string, since it must run from
 * sources, from the build and from a bundle alike, in a Node that is given no loader.
 */
const PROGRAM = `
const { execFile } = require('node:child_process');
const { readFileSync } = require('node:fs');
const pgCtl = process.argv[1];
let pid = 0;
let text = '';
const send = (signal) => {
  try {
    if (process.platform === 'win32' && signal !== 'SIGKILL') execFile(pgCtl, ['kill', signal.slice(3), String(pid)]);
    else process.kill(pid, signal);
  } catch {}
};
const isZombie = () => {
  try { return / Z [^)]*$/.test(readFileSync('/proc/' + pid + '/stat', 'utf8')); } catch { return false; }
};
const isAlive = () => {
  try { process.kill(pid, 0); return !isZombie(); } catch (error) { return error.code === 'EPERM'; }
};
const end = () => {
  if (pid === 0) process.exit();
  send('SIGINT');
  setTimeout(send, 10_000, 'SIGQUIT');
  setTimeout(send, 15_000, 'SIGKILL');
  setTimeout(process.exit, 16_000, 0);
  setInterval(() => isAlive() || process.exit(), 50);
};
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => {});
process.stdout.on('error', () => {});
process.stdin.on('error', () => {});
process.stdin.once('close', end);
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (text + chunk).split('\\n');
  text = lines.pop();
  for (const line of lines) { pid = Number(line); process.stdout.write('ok\\n'); }
});
`;

/** Starts the watchdog. It holds no program open. */
export async function startWatchdog(pgCtl: string): Promise<Watchdog> {
  const child = spawn(process.execPath, ['-e', PROGRAM, pgCtl], {
    cwd: '/',
    env: databaseEnvironment(),
    detached: true,
    windowsHide: true,
    stdio: 'pipe',
  });
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => undefined);
  child.stderr.resume();
  await once(child, 'spawn');
  child.unref();
  // Streams of a child are sockets, which would hold the event loop.
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as unknown as Socket).unref();
  return {
    watch: (pid) => watch(child, pid),
    release: () => void (child.stdin.writableEnded || child.stdin.end('0\n')),
  };
}

async function watch(child: ChildProcessWithoutNullStreams, pid: number): Promise<void> {
  const socket = child.stdout as unknown as Socket;
  socket.ref();
  try {
    const gone = once(child, 'exit').then(() => {
      throw new Error('the watchdog of the embedded database ended: it could not be started, try again');
    });
    gone.catch(() => undefined);
    const heard = once(child.stdout, 'data');
    child.stdin.write(`${pid}\n`);
    await Promise.race([heard, gone]);
  } finally {
    socket.unref();
  }
}
