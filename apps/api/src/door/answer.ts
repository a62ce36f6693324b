import { type Dispatched, type FinishedCall, type KeptAnswer, toAnswerText, toReceiptLinks } from '@rowcall/engine';
import type { FastifyReply } from 'fastify';

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };

/** The answer to a call that ended. */
export const toFinishedAnswer = (call: FinishedCall, baseUrl: string): KeptAnswer => ({
  status: 200,
  headers: JSON_TYPE,
  text: toAnswerText(call, baseUrl),
});

/** The answer to a call, however it was dispatched. */
export function toAnswer(dispatched: Exclude<Dispatched, { kind: 'repeated' }>, baseUrl: string): KeptAnswer {
  switch (dispatched.kind) {
    case 'finished':
      return toFinishedAnswer(dispatched.call, baseUrl);
    case 'shaped':
      return toJson(200, { ok: true, ran: false, state: 'shaped', ...dispatched.call });
    case 'queued': {
      const { id, trace, lane } = dispatched;
      return toAccepted({ state: 'queued', trace, invocation_id: id, lane }, id, baseUrl);
    }
    case 'parked': {
      const { id, trace, expiresAt } = dispatched;
      const expires_at = new Date(expiresAt).toISOString();
      return toAccepted({ state: 'approval_required', trace, invocation_id: id, expires_at }, id, baseUrl);
    }
  }
}

const toJson = (status: number, value: object): KeptAnswer => ({
  status,
  headers: JSON_TYPE,
  text: JSON.stringify(value),
});

/** Nothing ran yet: the receipt will tell. */
function toAccepted(told: object, id: string, baseUrl: string): KeptAnswer {
  const links = toReceiptLinks(baseUrl, id);
  const { status, headers, text } = toJson(202, { ok: true, ran: false, ...told, ...links });
  return { status, headers: { ...headers, location: links.receipt }, text };
}

/** Sends an answer as it stands. */
export const sendAnswer = (reply: FastifyReply, { status, headers, text }: KeptAnswer): FastifyReply =>
  reply.status(status).headers(headers).send(text);
