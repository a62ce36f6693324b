import type { Caller } from '@rowcall/engine';
import { AppError } from '@rowcall/errors';
import { GRANT_FINGERPRINT_PATTERN } from '@rowcall/protocol';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';

/** Parameters of every address that names a grant. */
export const grantParams = z.strictObject({
  fingerprint: z
    .string()
    .regex(GRANT_FINGERPRINT_PATTERN, 'must be the fingerprint of a grant: cap_…')
    .meta({ description: 'Fingerprint of a grant.', example: 'cap_0f9e8d7c6b5a49382716059483726150' }),
});

/** Why something is done, from the header x-reason. */
export function toReason(request: FastifyRequest): string | null {
  const reason = request.headers['x-reason'];
  return typeof reason === 'string' && reason !== '' ? reason.slice(0, 1_000) : null;
}

/** @throws AppError unrecognized_request for the owner, who mints. */
export function requireHolder(caller: Caller): Caller {
  if (caller.chain.length > 0) return caller;
  throw new AppError('unrecognized_request', 'a narrower grant is made from one: present its token', {
    fix: 'POST /api/grants to mint with the owner key',
  });
}
