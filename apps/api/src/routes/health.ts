import { z } from 'zod';
import type { App } from '../app.js';
import type { Context } from '../context.js';

const readinessSchema = z
  .object({
    ready: z.boolean(),
    rows: z.int(),
    stale_since: z.string().nullable().meta({ description: 'Since when changes may have been missed.' }),
    lanes: z.array(z.string()).meta({ description: 'Lanes that a living runner serves.' }),
  })
  .meta({ id: 'Readiness' });

/** GET /livez and /readyz: the process lives; it can serve calls. */
export function addHealth(app: App, context: Context): void {
  app.route({
    method: 'GET',
    url: '/livez',
    schema: {
      operationId: 'live',
      summary: 'The process lives',
      tags: ['health'],
      security: [{}],
      response: { 200: z.object({ live: z.literal(true) }) },
    },
    handler: async () => ({ live: true as const }),
  });
  app.route({
    method: 'GET',
    url: '/readyz',
    schema: {
      operationId: 'ready',
      summary: 'The process can serve calls',
      tags: ['health'],
      security: [{}],
      response: { 200: readinessSchema, 503: readinessSchema },
    },
    async handler(_request, reply) {
      const { catalogue, lanes } = context;
      const stale = catalogue.staleSince;
      const readiness = {
        ready: stale === undefined,
        rows: catalogue.counts.rows,
        stale_since: stale === undefined ? null : new Date(stale).toISOString(),
        lanes: [...lanes.live],
      };
      return reply.status(stale === undefined ? 200 : 503).send(readiness);
    },
  });
}
