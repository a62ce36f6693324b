import { toReceiptLinks } from '@rowcall/engine';
import { AppError } from '@rowcall/errors';
import { EFFECTS, INVOCATION_ID_PATTERN, jsonSchema, parseJson } from '@rowcall/protocol';
import type { StoredApproval } from '@rowcall/store';
import { z } from 'zod';

/** Parameters of every address that names a parked call. */
export const approvalParams = z.strictObject({
  id: z.string().regex(INVOCATION_ID_PATTERN, 'must be the id of a call: inv_…').meta({
    description: 'Id of the parked call, and of its receipt.',
    example: 'inv_01a22dc4597c74d3a99b6d1121cec41e',
  }),
});

/** A call that waits, or waited, for a person: all that the decision is bound to. */
export const approvalSchema = z
  .object({
    id: z.string(),
    state: z.enum(['waiting', 'approved', 'denied', 'expired']),
    key: z.string(),
    effect: z.enum(EFFECTS),
    actor: z.string().meta({ description: 'Who asks.' }),
    request: jsonSchema.meta({ description: 'What goes in, secrets left out.' }),
    request_redacted: z.boolean(),
    input_hash: z.string(),
    contract_fingerprint: z.string().meta({ description: 'The row must still have it when it is approved.' }),
    reason: z.string().nullable(),
    on_behalf_of: z.string().nullable(),
    requested_at: z.string(),
    expires_at: z.string(),
    decided_at: z.string().nullable(),
    decided_by: z.string().nullable(),
    decision_reason: z.string().nullable(),
    links: z.object({ confirm: z.string(), receipt: z.string(), public_receipt: z.string() }),
  })
  .meta({ id: 'Approval' });

/** A parked call as it is answered: without the input as it was sent, which may hold secrets. */
export function toApproval(approval: StoredApproval, baseUrl: string): z.output<typeof approvalSchema> {
  const {
    call: _,
    trace: _trace,
    origin: _origin,
    request,
    requested_at,
    expires_at,
    decided_at,
    effect,
    ...rest
  } = approval;
  return {
    ...rest,
    effect: z.enum(EFFECTS).parse(effect),
    request: parseJson(request),
    requested_at: requested_at.toISOString(),
    expires_at: expires_at.toISOString(),
    decided_at: decided_at?.toISOString() ?? null,
    links: toReceiptLinks(baseUrl, approval.id),
  };
}

export const unknownApproval = (id: string): AppError =>
  new AppError('unknown_approval', `no call waits by the id ${id}`);
