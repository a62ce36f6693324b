import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';

const INDEX = path.resolve(import.meta.dirname, '../dist/index.js');

/** A process whose stop takes a second; it says when it has begun, goes on, and has stopped in order. */
const PROGRAM = `
const { onStop } = await import(${JSON.stringify(INDEX)});
const say = (what) => process.stdout.write(what + '\\n');
const log = { debug() {}, info: (_, message) => say(message), warn: (_, message) => say(message), error() {} };
onStop(log, () => new Promise((resolve) => setTimeout(() => { say('in order'); resolve(); }, 1_000)));
setInterval(() => {}, 1_000);
say('runs');
`;

interface Stopping {
  readonly child: ChildProcess;
  until(what: string): Promise<void>;
  end(): Promise<{ code: number | null; output: string }>;
}

async function startProgram(): Promise<Stopping> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const stdout = child.stdout as Readable;
  let output = '';
  stdout.setEncoding('utf8').on('data', (chunk) => {
    output += chunk;
  });
  // Not "close", which does not come after a disconnect.
  const ended = Promise.all([once(child, 'exit'), once(stdout, 'end')]);
  const until = async (what: string) => {
    while (!output.includes(what)) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  await until('runs');
  return {
    child,
    until,
    end: async () => {
      const [[code]] = await ended;
      return { code, output };
    },
  };
}

describe.concurrent('a process that is asked to stop', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'by %s stops in order, also when the signal comes twice',
    async (signal) => {
      const { child, until, end } = await startProgram();
      child.kill(signal);
      await until('stopping');
      child.kill('SIGINT');
      expect(await end()).toEqual({ code: 0, output: 'runs\nstopping\nin order\n' });
    },
  );

  it('by a second signal after a while stops at once', async () => {
    const { child, until, end } = await startProgram();
    child.kill('SIGINT');
    await until('stopping');
    await new Promise((resolve) => setTimeout(resolve, 600));
    child.kill('SIGINT');
    expect(await end()).toEqual({ code: 1, output: 'runs\nstopping\nstopping at once\n' });
  });

  it('by the end of the channel to its parent stops in order, also when a signal follows', async () => {
    const { child, until, end } = await startProgram();
    child.disconnect();
    await until('stopping');
    child.kill('SIGTERM');
    expect(await end()).toEqual({ code: 0, output: 'runs\nstopping\nin order\n' });
  });
});
