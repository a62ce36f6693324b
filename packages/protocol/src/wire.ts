import { z } from 'zod';
import { ASK_ID_PATTERN } from './ids.js';
import { jsonObjectSchema } from './json.js';
import { OUTCOMES, PROOF_STATUSES } from './receipt.js';
import { keySchema, ROW_TYPES } from './row.js';
import { hashSchema as hash, noteSchema } from './text.js';

/** The id of an ask, where a caller names one. */
export const askIdSchema = z.string().regex(ASK_ID_PATTERN, 'must be the ask_id of an answer');

const receiptId = z.string().max(64);

/**
 * Body of POST /api/dispatch. `body` and `args` exclude each other, and `replay` excludes what the receipt tells; any other
 * field is refused: who calls, the trace and the cost are never a caller's to say.
 */
export const dispatchBodySchema = z
  .strictObject({
    key: z.string().min(1).max(256).optional().meta({ description: 'The row to run.', example: 'NOW' }),
    body: z.string().optional().meta({ description: 'Arguments as one string, split on "|".' }),
    args: jsonObjectSchema.optional().meta({ description: 'Arguments by name.' }),
    share: z.string().max(256).optional().meta({
      description:
        'Token of a grant, where no header carries it, in a body of 256 KiB at the most; it holds instead of any other credential.',
    }),
    expect_contract: hash.optional().meta({ description: 'Fingerprint that the row must still have.' }),
    shape: z
      .boolean()
      .optional()
      .meta({ description: 'true: make every check, fire nothing, and answer the exact request that would go out.' }),
    mode: z.enum(['sync', 'async']).optional().meta({ description: 'async: queue the call and answer 202.' }),
    replay: receiptId.optional().meta({ description: 'Receipt whose call is fired again, with its recorded input.' }),
    repairs: receiptId.optional().meta({ description: 'Receipt of the failed call that this one corrects.' }),
    confirm: z
      .boolean()
      .optional()
      .meta({ description: 'true: a replay or repair may do again what changes the world.' }),
    ask_id: askIdSchema.optional().meta({
      description:
        'ask_id of the answer that led to this call: kept on the receipt, to measure the search. It decides nothing.',
    }),
    on_behalf_of: noteSchema(256).optional().meta({ description: 'Whom the call is made for; kept on the receipt.' }),
    reason: noteSchema(1_000).optional().meta({ description: 'Why the call is made; kept on the receipt.' }),
  })
  .refine((body) => body.body === undefined || body.args === undefined, 'send body or args, not both')
  .refine((body) => body.key !== undefined || body.replay !== undefined, { path: ['key'], error: 'is required' })
  .refine(
    ({ replay, key, body, args, repairs }) =>
      replay === undefined || [key, body, args, repairs].every((member) => member === undefined),
    'replay goes without key, body, args and repairs: the receipt tells them',
  )
  .meta({ id: 'DispatchRequest', example: { key: 'NOW', body: '' } });
/** Body of POST /api/dispatch. */
export type DispatchBody = z.output<typeof dispatchBodySchema>;

/** Any JSON value, in documents. */
export const jsonSchema = z.unknown().meta({ description: 'Any JSON value.' });

/** Proof that a call ran. */
export const proofSchema = z
  .object({
    ok: z.boolean().meta({ description: 'The run produced material output.' }),
    did: z.string(),
    invocation_id: z.string(),
    status: z.enum(PROOF_STATUSES),
    fingerprints: z.object({
      algorithm: z.literal('SHA-256'),
      input: hash,
      output: hash.nullable(),
      contract: hash.nullable(),
    }),
    confirm: z.string(),
    receipt: z.string(),
    public_receipt: z.string(),
  })
  .meta({ id: 'Proof' });

/** Answer of a call that ran, whatever came of it. */
export const dispatchAnswerSchema = z
  .object({
    ok: z.boolean().meta({ description: 'The run did not fail.' }),
    ran: z.literal(true),
    trace: z.string(),
    result: jsonSchema,
    upstream: z.looseObject({ status: z.int(), content_type: z.string().nullable() }).optional(),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
    contract_changed_since_last_call: z
      .object({ previous: hash, current: hash })
      .optional()
      .meta({ description: "Fingerprints: the row changed since this caller's last call of it." }),
    replay: z
      .object({
        of: z.string(),
        verdict: z.enum(['same', 'different', 'definition_changed']),
        outcomes: z.object({ before: z.enum(OUTCOMES), after: z.enum(OUTCOMES) }),
        changes: z
          .array(z.looseObject({ op: z.string(), path: z.string() }))
          .optional()
          .meta({ description: 'From the first output to this one (RFC 6902), as both are kept.' }),
        more: z.literal(true).optional().meta({ description: 'There are more changes than are named.' }),
      })
      .optional()
      .meta({ description: 'Given when the call fired another one again.' }),
    proof: proofSchema,
    cost: z.object({
      ms: z.number(),
      tokens_in: z.int(),
      tokens_out: z.int(),
      tokens_cached: z.int(),
      usd: z.number(),
    }),
    links: z.object({ contract: z.string() }),
  })
  .meta({ id: 'DispatchAnswer' });

/** Answer of a call that was queued. */
export const queuedAnswerSchema = z
  .object({
    ok: z.literal(true),
    ran: z.literal(false),
    state: z.literal('queued'),
    trace: z.string(),
    invocation_id: z.string(),
    lane: z.string(),
    confirm: z.string(),
    receipt: z.string(),
    public_receipt: z.string(),
  })
  .meta({ id: 'QueuedAnswer' });

/** Answer of a call that waits for a person. */
export const parkedAnswerSchema = z
  .object({
    ok: z.literal(true),
    ran: z.literal(false),
    state: z.literal('approval_required'),
    trace: z.string(),
    invocation_id: z.string(),
    expires_at: z.string().meta({ description: 'RFC 3339; undecided by then, the call is denied.' }),
    confirm: z.string(),
    receipt: z.string(),
    public_receipt: z.string(),
  })
  .meta({ id: 'ParkedAnswer' });

/** Answer of a call that was only shaped: every check was made, and nothing fired. */
export const shapeAnswerSchema = z
  .object({
    ok: z.literal(true),
    ran: z.literal(false),
    state: z.literal('shaped'),
    key: keySchema,
    lane: z.string(),
    effect: z.enum(['read', 'write', 'destructive']),
    fingerprint: hash,
    shape: z.looseObject({}).meta({ description: 'fn: function and arguments; http: method, url, headers, body.' }),
    missing: z.array(z.string()).meta({ description: 'Environment variables that are needed and not set.' }),
    approval_required: z.literal(true).optional().meta({ description: 'The call would wait for a person first.' }),
  })
  .meta({ id: 'ShapeAnswer' });

/** A problem (RFC 9457). */
export const problemSchema = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    error: z.string().meta({ description: 'The literal reason, such as unknown_key.' }),
    fix: z.string().meta({ description: 'What to do next.' }),
    receipt: z.string().optional().meta({ description: 'Receipt of the attempt, where it left one.' }),
  })
  .meta({ id: 'Problem' });

/** Public, keyless proof: identity, status, times, actor, hashes, lineage; never a payload. */
export const confirmationSchema = z
  .object({
    confirmed: z.boolean(),
    state: z.enum(['queued', 'running', 'awaiting_approval', 'finished']),
    invocation_id: z.string(),
    key: z.string().optional(),
    type: z.enum(ROW_TYPES).nullable().optional(),
    row_version: z.int().nullable().optional(),
    lane: z.string().nullable().optional(),
    actor: z.string().optional(),
    outcome: z.enum(OUTCOMES).optional(),
    status: z.enum(PROOF_STATUSES).optional(),
    material: z.boolean().optional(),
    error: z.string().nullable().optional(),
    started_at: z.string().optional(),
    finished_at: z.string().optional(),
    fingerprints: z
      .object({
        algorithm: z.literal('SHA-256'),
        input: hash,
        output: hash.nullable(),
        contract: hash.nullable(),
      })
      .optional(),
    lineage: z
      .object({
        trace: z.string(),
        parent: z.string().nullable(),
        step: z.int().nullable(),
        replay_of: z.string().nullable(),
        repairs: z.string().nullable(),
      })
      .optional(),
    public_receipt: z.string(),
  })
  .meta({ id: 'Confirmation' });
/** Public, keyless proof. */
export type Confirmation = z.output<typeof confirmationSchema>;

/** Short description of a row, in the registry, the map and the answers of ask. */
export const descriptorSchema = z
  .object({
    key: keySchema,
    type: z.enum(ROW_TYPES),
    category: z.string(),
    what: z.string(),
    effect: z.enum(['read', 'write', 'destructive']),
    risk: z.enum(['low', 'high']),
    version: z.int(),
    contract: z.string().meta({ description: 'Address of the contract.' }),
  })
  .meta({ id: 'Descriptor' });
/** Short description of a row. */
export type Descriptor = z.output<typeof descriptorSchema>;
