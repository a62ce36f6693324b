import type { IncomingMessage } from 'node:http';
import { AppError } from '@rowcall/errors';
import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body may take as long as it needs: the route reads it as it arrives, and minds its own silence. */
    slowBody?: boolean;
  }
}

/** How often, in ms, it is looked which bodies are late. */
const WATCH_EVERY_MS = 1_000;

/**
 * Gives a body `timeoutMs` to arrive whole, unless its route says otherwise; then 408, and the connection ends. Node's
 * own limit is one for all routes, and an import of many rows takes longer.
 */
export function addBodyDeadline(app: FastifyInstance, timeoutMs: number): void {
  const bodies = new LateBodies(timeoutMs);
  app.addHook('preParsing', ({ raw, routeOptions }, _reply, _payload, done) => {
    if (!raw.complete && routeOptions.config.slowBody !== true) bodies.await(raw);
    done();
  });
  app.addHook('preValidation', ({ raw }, _reply, done) => {
    bodies.arrived(raw);
    done();
  });
}

/** One timer for all bodies: most arrive in the turn they began in, and a timer for each would cost more than they do. */
class LateBodies {
  readonly #timeoutMs: number;
  /** Requests whose body is read, and until when (`performance.now`) it may take. */
  readonly #awaited = new Map<IncomingMessage, number>();
  #watching: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  await(raw: IncomingMessage): void {
    this.#awaited.set(raw, performance.now() + this.#timeoutMs);
    this.#watch();
  }

  arrived(raw: IncomingMessage): void {
    this.#awaited.delete(raw);
  }

  #watch(): void {
    this.#watching ??= setTimeout(
      () => {
        this.#watching = undefined;
        this.#end();
        if (this.#awaited.size > 0) this.#watch();
      },
      Math.min(WATCH_EVERY_MS, this.#timeoutMs),
    ).unref();
  }

  #end(): void {
    const now = performance.now();
    for (const [raw, until] of this.#awaited) {
      const isOver = raw.complete || raw.destroyed;
      if (!isOver && until > now) continue;
      this.#awaited.delete(raw);
      // Where nothing reads the body, it keeps nobody waiting.
      if (isOver || raw.listenerCount('error') === 0) continue;
      raw.emit('error', new AppError('request_timeout', `the body took longer than ${this.#timeoutMs} ms`));
    }
  }
}
