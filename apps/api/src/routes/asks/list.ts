import { ASK_ID_PATTERN, askIdSchema, asksAnswerSchema, problemSchema } from '@rowcall/protocol';
import { listAsks, type StoredAsk } from '@rowcall/store';
import { z } from 'zod';
import type { App } from '../../app.js';
import type { Context } from '../../context.js';
import { admitReader } from '../../plugins/caller.js';
import { cutPage, isForward, moment, NOT_FORWARD, shareParam } from '../query.js';

const querySchema = z
  .strictObject({
    answered: z
      .enum(['true', 'false'])
      .optional()
      .meta({ description: 'false: the questions for which no row fitted.' }),
    ask_id: askIdSchema.optional().meta({ description: 'This ask alone, such as the ask_id of a receipt.' }),
    from: moment.optional().meta({ description: 'Asked then or later; RFC 3339.' }),
    to: moment.optional().meta({ description: 'Asked before; RFC 3339.' }),
    limit: z.coerce.number().int().min(1).max(200).default(50),
    cursor: z
      .string()
      .regex(ASK_ID_PATTERN, 'must be the next_cursor of a page')
      .optional()
      .meta({ description: 'next_cursor of the page before, with the same filters.' }),
    share: shareParam,
  })
  .refine(isForward, NOT_FORWARD);

const toAsk = ({ id, ...ask }: StoredAsk) => ({ ask_id: id, ...ask });

/** GET /api/asks: what was asked, newest first, for the owner and read grants. */
export function addListAsks(app: App, context: Context): void {
  app.route({
    method: 'GET',
    url: '/api/asks',
    schema: {
      operationId: 'listAsks',
      summary: 'List what was asked, newest first',
      description:
        'Each with what was answered and the call that followed. An ask is listed a second after its answer.',
      tags: ['asks'],
      security: [{ ownerKey: [] }, { grant: [] }],
      querystring: querySchema,
      response: { 200: asksAnswerSchema, 400: problemSchema, 401: problemSchema, 403: problemSchema },
    },
    onRequest: (request) => admitReader(context, request),
    async handler(request, reply) {
      const { ask_id: id, answered, from: fromMs, to: toMs, limit, cursor: before } = request.query;
      const question = { id, fromMs, toMs, before, limit: limit + 1 };
      const found = await listAsks(context.store.db, {
        ...question,
        answered: answered === undefined ? undefined : answered === 'true',
      });
      const { page, last } = cutPage(found, limit);
      reply.header('cache-control', 'no-store');
      return { asks: page.map(toAsk), next_cursor: last?.id ?? null };
    },
  });
}
