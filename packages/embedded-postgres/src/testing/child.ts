import { type LaunchInternals, startWith } from '../start.js';

/**
 * A program that starts an embedded Postgres, for tests to kill. Its argument is JSON: options and internals. It prints
 * one line, the server or `{"error"}`, and then waits for ever, or until a line arrives on its input: then it stops.
 * Like an application that drains first, it outlives Ctrl-C.
 */
interface Order {
  readonly options: Parameters<typeof startWith>[0];
  readonly internals: LaunchInternals;
}

const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);

process.on('SIGINT', () => undefined);

try {
  const { options, internals } = JSON.parse(process.argv[2] ?? '') as Order;
  const server = await startWith(options, internals);
  print({ pid: server.pid, url: server.url, reused: server.reused });
  process.stdin.once('data', async () => {
    await server.stop();
    process.exit();
  });
} catch (error) {
  print({ error: error instanceof Error ? error.message : String(error) });
}
