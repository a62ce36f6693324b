import { askQualitySchema, problemSchema } from '@rowcall/protocol';
import { measureAsks } from '@rowcall/store';
import { z } from 'zod';
import type { App } from '../../app.js';
import type { Context } from '../../context.js';
import { admitReader } from '../../plugins/caller.js';
import { isForward, moment, NOT_FORWARD, shareParam } from '../query.js';

const DAY_MS = 86_400_000;
const DAYS = 30;
const DAYS_MAX = 92;

interface Given {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** The period that is meant. */
function toPeriod({ from, to }: Given): { fromMs: number; toMs: number } {
  // Ids have milliseconds: without one more, an ask of this very one would be left out.
  const toMs = to ?? Date.now() + 1;
  return { fromMs: from ?? toMs - DAYS * DAY_MS, toMs };
}

function toLengthMs(given: Given): number {
  const { fromMs, toMs } = toPeriod(given);
  return toMs - fromMs;
}

const querySchema = z
  .strictObject({
    from: moment.optional().meta({ description: `RFC 3339; ${DAYS} days before \`to\` when not given.` }),
    to: moment.optional().meta({ description: 'RFC 3339; now when not given.' }),
    share: shareParam,
  })
  .refine(isForward, NOT_FORWARD)
  .refine((query) => toLengthMs(query) <= DAYS_MAX * DAY_MS, {
    path: ['from'],
    error: `must be ${DAYS_MAX} days before to at the most`,
  });

/** GET /api/asks/quality: how well this deployment finds, by the calls that followed its answers. */
export function addAskQuality(app: App, context: Context): void {
  app.route({
    method: 'GET',
    url: '/api/asks/quality',
    schema: {
      operationId: 'measureAsks',
      summary: 'Measure how well questions are answered, by the calls that followed',
      tags: ['asks'],
      security: [{ ownerKey: [] }, { grant: [] }],
      querystring: querySchema,
      response: { 200: askQualitySchema, 400: problemSchema, 401: problemSchema, 403: problemSchema },
    },
    onRequest: (request) => admitReader(context, request),
    async handler(request, reply) {
      const period = toPeriod(request.query);
      const quality = await measureAsks(context.store.db, period);
      reply.header('cache-control', 'no-store');
      return {
        period: { from: new Date(period.fromMs).toISOString(), to: new Date(period.toMs).toISOString() },
        ...quality,
        dropped: context.asks.dropped,
      };
    },
  });
}
