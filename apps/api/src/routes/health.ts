import { toModelName } from '@rowcall/embeddings';
import { z } from 'zod';
import type { App } from '../app.js';
import type { Context } from '../context.js';

const coverageSchema = z
  .object({
    model: z.string(),
    rows: z.int().meta({ description: 'Rows that search shows.' }),
    covered: z.int().meta({ description: 'Those of them that this process has a vector of.' }),
    coverage: z.number().meta({ description: 'covered / rows, 0 to 1.' }),
  })
  .meta({ id: 'EmbeddingCoverage' });

const readinessSchema = z
  .object({
    ready: z.boolean(),
    rows: z.int(),
    stale_since: z.string().nullable().meta({ description: 'Since when changes may have been missed.' }),
    lanes: z.array(z.string()).meta({ description: 'Lanes that a living runner serves.' }),
    embeddings: coverageSchema
      .nullable()
      .meta({ description: 'How far rows can be found by their meaning; null where no service for that is set.' }),
  })
  .meta({ id: 'Readiness' });

/** It never makes a process unready: rows are found by their words without. */
function toCoverage({ config, catalogue }: Context): z.output<typeof coverageSchema> | null {
  if (config.embeddings === undefined) return null;
  const { projected: rows } = catalogue.counts;
  const covered = catalogue.embedded;
  const coverage = rows === 0 ? 1 : Math.floor((covered / rows) * 1_000) / 1_000;
  return { model: toModelName(config.embeddings), rows, covered, coverage };
}

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
        embeddings: toCoverage(context),
      };
      return reply.status(stale === undefined ? 200 : 503).send(readiness);
    },
  });
}
