import { z } from 'zod';
import { OUTCOMES, PROOF_STATUSES } from './receipt.js';
import { ROW_TYPES } from './row.js';
import { hashSchema as hash } from './text.js';

const rate = z.number().min(0).max(1).nullable();
const ms = z.number().nullable();

/** A receipt as it is listed: all of it but its payload. */
export const invocationSchema = z
  .object({
    id: z.string(),
    trace: z.string(),
    parent: z.string().nullable(),
    step: z.int().nullable(),
    key: z.string(),
    type: z.enum(ROW_TYPES).nullable(),
    row_version: z.int().nullable(),
    lane: z.string().nullable(),
    actor: z.string(),
    started_at: z.string(),
    finished_at: z.string(),
    outcome: z.enum(OUTCOMES),
    status: z.enum(PROOF_STATUSES),
    material: z.boolean(),
    input_hash: hash,
    output_hash: hash.nullable(),
    contract_fingerprint: hash.nullable(),
    error: z.string().nullable(),
    error_message: z.string().nullable(),
    tokens_in: z.int(),
    tokens_out: z.int(),
    tokens_cached: z.int(),
    cost_usd: z.number(),
    replay_of: z.string().nullable(),
    repairs: z.string().nullable(),
    on_behalf_of: z.string().nullable(),
    reason: z.string().nullable(),
    traceparent: z.string().nullable(),
    ask_id: z.string().nullable().meta({ description: 'The ask that the call followed, as its caller named it.' }),
    links: z.object({ confirm: z.string(), receipt: z.string(), public_receipt: z.string(), trace: z.string() }),
  })
  .meta({ id: 'Invocation' });

/** What the newest receipts that fit come to. */
export const invocationSummarySchema = z
  .object({
    over: z.int().meta({
      description: 'Receipts it is taken over: those that fit of the newest that were looked at, 1,000 at the most.',
    }),
    complete: z.boolean().meta({ description: 'These are all that fit; false when there may be others.' }),
    outcomes: z.record(z.enum(OUTCOMES), z.int()),
    material_rate: rate,
    waste_rate: rate.meta({ description: 'Share that was not material although tokens or money were spent.' }),
    cost_usd: z.number(),
    tokens_in: z.int(),
    tokens_out: z.int(),
    tokens_cached: z.int(),
    p50_ms: ms.meta({ description: 'Of the calls that ran.' }),
    p95_ms: ms,
    p99_ms: ms,
  })
  .meta({ id: 'InvocationSummary' });

/** Answer of GET /api/invocations. */
export const invocationsAnswerSchema = z
  .object({
    invocations: z.array(invocationSchema),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: 'For the next page; null at the end. A page may be short, even empty, and have one.' }),
    summary: invocationSummarySchema.nullable().meta({ description: 'Null where it was left out.' }),
  })
  .meta({ id: 'Invocations' });
