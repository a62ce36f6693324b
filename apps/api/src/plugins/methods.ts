import { AppError } from '@rowcall/errors';
import type { FastifyInstance, HTTPMethods } from 'fastify';

/** Methods that the server knows; an address without one of them says so. */
const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

/**
 * Answers the methods that an address does not have: OPTIONS with 204, others with 405, both with the ones it has in
 * `Allow` (RFC 9110 §9.3.7, §15.5.6).
 * @returns to be called when all routes are there.
 */
export function collectMethods(app: FastifyInstance): () => void {
  const urls = new Set<string>();
  app.addHook('onRoute', ({ url }) => {
    urls.add(url);
  });
  return () => {
    for (const url of [...urls]) addOthers(app, url);
  };
}

function addOthers(app: FastifyInstance, url: string): void {
  const others = METHODS.filter((method) => !app.hasRoute({ method, url }));
  const allow = METHODS.filter((method) => !others.includes(method) || method === 'OPTIONS').join(', ');
  app.route({
    method: others,
    url,
    schema: { hide: true },
    // Before the body is read: it may be of a type that is not.
    async onRequest(request, reply) {
      reply.header('allow', allow);
      if (request.method === 'OPTIONS') return reply.status(204).send();
      throw new AppError('method_not_allowed', `nothing answers ${request.method} here, only ${allow}`);
    },
    handler: async () => undefined,
  });
}
