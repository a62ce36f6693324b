import { AppError } from '@rowcall/errors';
import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body may take as long as it needs: the route reads it as it arrives, and minds its own silence. */
    slowBody?: boolean;
  }
}

/**
 * Gives a body `timeoutMs` to arrive whole, unless its route says otherwise; then 408, and the connection ends. Node's
 * own limit is one for all routes, and an import of many rows takes longer.
 */
export function addBodyDeadline(app: FastifyInstance, timeoutMs: number): void {
  app.addHook('preParsing', ({ raw, routeOptions }, _reply, _payload, done) => {
    if (raw.complete || routeOptions.config.slowBody === true) return done();
    const timer = setTimeout(() => {
      // Where nothing reads the body, it keeps nobody waiting.
      if (raw.complete || raw.listenerCount('error') === 0) return;
      raw.emit('error', new AppError('request_timeout', `the body took longer than ${timeoutMs} ms`));
    }, timeoutMs);
    timer.unref();
    for (const event of ['end', 'close']) raw.once(event, () => clearTimeout(timer));
    return done();
  });
}
