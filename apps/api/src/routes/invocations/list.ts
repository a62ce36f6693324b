import { type Caller, toReceiptLinks } from '@rowcall/engine';
import { mayRead } from '@rowcall/grants';
import {
  askIdSchema,
  INVOCATION_ID_PATTERN,
  invocationsAnswerSchema,
  OUTCOMES,
  problemSchema,
  type Receipt,
} from '@rowcall/protocol';
import { listReceipts, type ReceiptQuestion } from '@rowcall/store';
import { z } from 'zod';
import type { App } from '../../app.js';
import type { Context } from '../../context.js';
import { admitLiveCaller, callerOf } from '../../plugins/caller.js';
import { isForward, moment, NOT_FORWARD, shareParam, queryText as text } from '../query.js';

const LIMIT_MAX = 200;

const toCursor = (id: string): string => Buffer.from(id).toString('base64url');
const cursor = z
  .string()
  .max(64)
  .transform((value) => Buffer.from(value, 'base64url').toString())
  .refine((id) => INVOCATION_ID_PATTERN.test(id), 'is not one that a page gave; begin without it');

const querySchema = z
  .strictObject({
    key: text(256).optional().meta({ description: 'The key as it was asked for.', example: 'NOW' }),
    trace: text(64).optional(),
    actor: text(256).optional().meta({ description: 'owner, cap:…, mcp:…, schedule:….' }),
    ask_id: askIdSchema.optional().meta({ description: 'Calls that named this ask.' }),
    outcome: z.enum(OUTCOMES).optional(),
    material: z.enum(['true', 'false']).optional().meta({ description: 'Whether there was usable output.' }),
    waste: z.literal('true').optional().meta({ description: 'Not material, yet tokens or money were spent.' }),
    from: moment.optional().meta({ description: 'Calls that began then or later; RFC 3339.' }),
    to: moment.optional().meta({ description: 'Calls that began before; RFC 3339.' }),
    share: shareParam,
    limit: z.coerce.number().int().min(1).max(LIMIT_MAX).default(50),
    cursor: cursor.optional().meta({ description: 'next_cursor of the page before, with the same filters.' }),
    summary: z
      .enum(['0', '1'])
      .optional()
      .meta({ description: 'Whether to sum the newest receipts up; when not given: on the first page.' }),
  })
  .refine(isForward, NOT_FORWARD)
  .refine(({ material, waste }) => !(waste && material === 'true'), {
    path: ['waste'],
    error: 'is never material',
  });
type Query = z.output<typeof querySchema>;

/** What is asked, and by whom: the owner and read grants see every receipt, others those of their own calls. */
function toQuestion(query: Query, caller: Caller): ReceiptQuestion {
  const { key, trace, actor, ask_id: askId, outcome, material, waste, from, to, limit, cursor: before } = query;
  return {
    visible: mayRead(caller.chain) ? 'all' : { actor: caller.actor },
    limit,
    before,
    summarize: query.summary === undefined ? before === undefined : query.summary === '1',
    filter: {
      key,
      trace,
      actor,
      askId,
      outcome,
      material: material === undefined ? undefined : material === 'true',
      waste: waste === undefined ? undefined : true,
      fromMs: from,
      toMs: to,
    },
  };
}

const toInvocation = (receipt: Receipt, baseUrl: string) => ({
  ...receipt,
  links: { ...toReceiptLinks(baseUrl, receipt.id), trace: `${baseUrl}/api/invocations?trace=${receipt.trace}` },
});

/** GET /api/invocations: receipts, newest first, and what the newest that fit come to. */
export function addListInvocations(app: App, context: Context): void {
  app.route({
    method: 'GET',
    url: '/api/invocations',
    schema: {
      operationId: 'listInvocations',
      summary: 'List receipts, newest first',
      description:
        'Filters combine. One answer looks at 1,000 receipts at the most: where few of many fit, a page may be short, and ' +
        'next_cursor goes on. The summary is taken over the newest ones, and says whether they are all.',
      tags: ['receipts'],
      security: [{ ownerKey: [] }, { grant: [] }],
      querystring: querySchema,
      response: { 200: invocationsAnswerSchema, 400: problemSchema, 401: problemSchema, 403: problemSchema },
    },
    onRequest: (request) => admitLiveCaller(context, request),
    async handler(request, reply) {
      const caller = callerOf(request);
      const { receipts, next, summary } = await listReceipts(context.store.db, toQuestion(request.query, caller));
      reply.header('cache-control', 'no-store');
      return {
        invocations: receipts.map((receipt) => toInvocation(receipt, context.baseUrl())),
        next_cursor: next === null ? null : toCursor(next),
        summary,
      };
    },
  });
}
