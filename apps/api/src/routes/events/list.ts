import { AppError } from '@rowcall/errors';
import { jsonSchema, problemSchema } from '@rowcall/protocol';
import { listEvents } from '@rowcall/store';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { App } from '../../app.js';
import type { Context } from '../../context.js';
import { requireOwner } from '../../plugins/owner.js';
import { cutPage, queryText as text } from '../query.js';

const LIMIT_MAX = 500;
const LIMIT_DEFAULT = 100;

const eventId = z.coerce.number('must be the id of an event').int().min(0).max(Number.MAX_SAFE_INTEGER);

const querySchema = z.strictObject({
  kind: text(128).optional().meta({ description: 'Such as DENY.', example: 'DIRECTORY_MUTATE' }),
  key: text(256).optional().meta({ description: 'The row that it was about.' }),
  actor: text(256).optional().meta({ description: 'Who caused it.' }),
  after: eventId.optional().meta({ description: 'Only events with a higher id. A stream begins behind it.' }),
  before: eventId.optional().meta({ description: 'Only events with a lower id. Not for a stream.' }),
  order: z.enum(['asc', 'desc']).optional().meta({ description: 'By id; desc when not given. Not for a stream.' }),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(LIMIT_MAX)
    .optional()
    .meta({ description: `${LIMIT_DEFAULT} when not given. Not for a stream.` }),
});
type Query = z.output<typeof querySchema>;

const headersSchema = z.looseObject({
  'last-event-id': eventId
    .optional()
    .meta({ description: 'For a stream: the last id that the client has; goes before `after`.' }),
});

const eventSchema = z
  .object({
    id: z.int(),
    at: z.string(),
    kind: z.string().meta({ description: 'Such as DIRECTORY_MUTATE, DENY, UNAUTHORIZED.' }),
    actor: z.string(),
    key: z.string().nullable(),
    reason: z.string().nullable(),
    detail: z.record(z.string(), jsonSchema),
  })
  .meta({ id: 'Event' });

const answerSchema = z.object({
  events: z.array(eventSchema),
  next_cursor: z
    .int()
    .nullable()
    .meta({ description: 'The next page: send it as `before`, with order=asc as `after`. null: there is none now.' }),
});

const DESCRIPTION = `What happened to the deployment, newest first. With \`Accept: text/event-stream\` it is a live
stream of server-sent events: every event once, in the order of ids, an event's kind as its name; it is resumed by
\`Last-Event-ID\`, or \`after\`. Pages show what is committed: a lower id may come after a higher one. To follow events
without missing one, use the stream.`.replaceAll('\n', ' ');

const HEADERS = { vary: 'accept, authorization, x-terminal-key', 'cache-control': 'no-store' } as const;

const wantsStream = ({ headers: { accept } }: FastifyRequest): boolean =>
  /(^|,)\s*text\/event-stream\s*($|[,;])/i.test(accept ?? '');

async function list(context: Context, query: Query) {
  const { limit = LIMIT_DEFAULT, order = 'desc', ...rest } = query;
  const events = await listEvents(context.store.db, { ...rest, order, limit: limit + 1 });
  const { page, last } = cutPage(events, limit);
  return { events: page, next_cursor: last?.id ?? null };
}

/** @throws AppError unrecognized_request for what only a page has. */
function refusePaging(query: Query): void {
  const extra = (['before', 'order', 'limit'] as const).find((name) => query[name] !== undefined);
  if (extra === undefined) return;
  throw new AppError('unrecognized_request', `a stream has no ${extra}; send kind, key, actor and after alone`);
}

async function follow(context: Context, request: FastifyRequest, reply: FastifyReply, query: Query) {
  refusePaging(query);
  const { kind, key, actor } = query;
  const after = (request.headers['last-event-id'] as number | undefined) ?? query.after;
  // nginx would otherwise keep events back until its buffer is full.
  reply.headers({ ...HEADERS, 'x-accel-buffering': 'no' }).type('text/event-stream');
  if (request.method === 'HEAD') return reply.send('');
  const stream = await context.events.open({ filter: { kind, key, actor }, after });
  return reply.send(stream);
}

/** GET /api/events: a page of events, or, with `Accept: text/event-stream`, events as they happen. */
export function addListEvents(app: App, context: Context): void {
  // Before the server waits for its connections: a stream has no end of its own.
  app.addHook('preClose', async () => context.events.stop());
  app.route({
    method: 'GET',
    url: '/api/events',
    schema: {
      operationId: 'listEvents',
      summary: 'List or follow events',
      description: DESCRIPTION,
      tags: ['events'],
      security: [{ ownerKey: [] }],
      querystring: querySchema,
      headers: headersSchema,
      response: { 200: answerSchema, 400: problemSchema, 401: problemSchema, 503: problemSchema },
    },
    onRequest: (request) => requireOwner(context, request),
    async handler(request, reply) {
      if (wantsStream(request)) return follow(context, request, reply, request.query);
      return reply.headers(HEADERS).send(await list(context, request.query));
    },
  });
}
