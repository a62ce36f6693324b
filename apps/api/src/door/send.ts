import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Document } from './contract.js';

/** Sends a document with its ETag, or 304 when the caller has it already (RFC 9110 §13.1.2). */
export function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  document: Document & { cacheControl: string },
): FastifyReply {
  const etag = `"${createHash('sha256').update(document.text).digest('base64url').slice(0, 27)}"`;
  reply.headers({ etag, vary: 'accept, authorization, x-terminal-key', 'cache-control': document.cacheControl });
  const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known?.some((tag) => tag === etag || tag === '*')) return reply.status(304).send();
  if (document.engineMs !== undefined) reply.header('server-timing', `ask;dur=${document.engineMs.toFixed(3)}`);
  return reply.header('content-type', document.contentType).send(document.text);
}
