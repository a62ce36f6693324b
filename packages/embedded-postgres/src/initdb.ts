import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Guard, GuardedCommand } from './guard.js';

const INITDB_MS_MAX = 300_000;

/** Runs `initdb` under the guard. Throws with its last output if it fails, or takes over five minutes. */
export async function runInitdb(guard: Guard, command: Omit<GuardedCommand, 'output'>): Promise<void> {
  const child = await guard.spawn({ ...command, output: 'pipe' });
  const timer = setTimeout(() => child.kill('SIGKILL'), INITDB_MS_MAX);
  const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout as Readable),
    text(child.stderr as Readable),
    exit,
  ]);
  clearTimeout(timer);
  if (code === 0) return;
  throw new Error(`initdb ended with ${signal ?? code}: ${(stderr || stdout).trim().slice(-4000)}`);
}
