import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { LaunchPlan } from './options.js';
import { parseLastPort } from './pid-file.js';

/** Listens on 127.0.0.1 for a moment: resolves with the port (0 asks for any free one), or undefined if it is taken. */
function probePort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? address?.port : undefined));
    });
  });
}

/** The port to start on: the plan's own, else the one used last time if it is free, else any free one. */
export async function choosePort(plan: LaunchPlan): Promise<number> {
  if (plan.port !== undefined) {
    if ((await probePort(plan.port)) === undefined) throw portTaken(plan.port);
    return plan.port;
  }
  const last = parseLastPort(await readFile(join(plan.dir, 'postmaster.opts'), 'utf8').catch(() => ''));
  const port = (last === undefined ? undefined : await probePort(last)) ?? (await probePort(0));
  if (port === undefined) throw new Error('no free TCP port on 127.0.0.1: close programs, or give a port');
  return port;
}

/** The failure of a port that the caller asked for. */
export function portTaken(port: number): Error {
  return new Error(`port ${port} on 127.0.0.1 is taken or not allowed: give another port, or leave it out`);
}
