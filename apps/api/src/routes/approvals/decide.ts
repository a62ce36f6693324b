import { dispatchAnswerSchema, noteSchema, problemSchema, queuedAnswerSchema } from '@rowcall/protocol';
import { z } from 'zod';
import type { App } from '../../app.js';
import type { Context } from '../../context.js';
import { sendAnswer, toAnswer } from '../../door/answer.js';
import { requireOwner } from '../../plugins/owner.js';
import { approvalParams } from './shared.js';

const bodySchema = z
  .strictObject({ reason: noteSchema(1_000).optional().meta({ description: 'Why; kept with the decision.' }) })
  .nullish();

const toDecider = (body: z.output<typeof bodySchema>) => ({ actor: 'owner', reason: body?.reason ?? null });

/** POST /api/approvals/{id}/approve and …/deny: a person decides on a parked call, once. */
export function addDecideApproval(app: App, context: Context): void {
  const shared = { tags: ['approvals'], security: [{ ownerKey: [] }], params: approvalParams, body: bodySchema };
  const problems = { 400: problemSchema, 401: problemSchema, 404: problemSchema, 409: problemSchema };
  app.route({
    method: 'POST',
    url: '/api/approvals/:id/approve',
    schema: {
      ...shared,
      operationId: 'approveCall',
      summary: 'Agree to a parked call, and run it',
      description: 'It fires once, with exactly what was parked, after every check was made anew.',
      response: {
        200: dispatchAnswerSchema,
        202: queuedAnswerSchema,
        ...problems,
        403: problemSchema,
        424: problemSchema,
        429: problemSchema,
        503: problemSchema,
        504: problemSchema,
      },
    },
    onRequest: (request) => requireOwner(context, request),
    async handler(request, reply) {
      const { id } = request.params;
      const dispatched = await context.approvals.approve(id, toDecider(request.body), context.engine);
      if (dispatched.kind === 'repeated') throw new Error(`the parked call ${id} was taken for a repetition`);
      return sendAnswer(reply, toAnswer(dispatched, context.baseUrl()));
    },
  });
  app.route({
    method: 'POST',
    url: '/api/approvals/:id/deny',
    schema: {
      ...shared,
      operationId: 'denyCall',
      summary: 'Refuse a parked call',
      response: { 200: z.object({ id: z.string(), state: z.literal('denied') }), ...problems },
    },
    onRequest: (request) => requireOwner(context, request),
    async handler(request) {
      const { id } = request.params;
      await context.approvals.deny(id, toDecider(request.body));
      return { id, state: 'denied' as const };
    },
  });
}
