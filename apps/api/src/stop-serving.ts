import type { FastifyInstance } from 'fastify';
import type { Context } from './context.js';

/** How often, in ms, connections that fell silent are closed. */
const CLOSE_IDLE_EVERY_MS = 50;
/** How long, in ms, the last answers get to leave when the grace is used up. */
const LAST_ANSWERS_MS = 1_000;

/**
 * Stops a process's HTTP face and then the process's parts: no new calls, the calls under way get `graceMs`, what still
 * runs then is cancelled and leaves its receipt, answers leave, and the store closes last. Neither an upstream that
 * hangs nor a client that keeps its connection open holds it up.
 */
export async function stopServing(app: FastifyInstance, context: Context, graceMs: number): Promise<void> {
  const until = performance.now() + graceMs;
  const closed = app.close();
  const closeIdle = setInterval(() => app.server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS);
  await context.drain(graceMs);
  const closeAll = setTimeout(
    () => app.server.closeAllConnections(),
    Math.max(until - performance.now(), LAST_ANSWERS_MS),
  );
  await closed;
  clearInterval(closeIdle);
  clearTimeout(closeAll);
  await context.stop();
}
