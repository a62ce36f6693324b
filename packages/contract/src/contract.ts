import { EFFECTS, isJsonObject, type JsonObject, keySchema, ROW_TYPES } from '@rowcall/protocol';
import { z } from 'zod';

const jsonObject = z.custom<JsonObject>(isJsonObject, 'must be a JSON object').meta({ type: 'object' });

const callBody = z.union([
  z.object({ key: keySchema, body: z.string() }),
  z.object({ key: keySchema, args: jsonObject }),
]);

/**
 * What a caller reads before calling a row. As JSON it is under 2,048 bytes for a row without a schema, whatever the row's
 * texts; what is the same for every row stands in the manifest.
 */
export const contractSchema = z
  .object({
    key: keySchema,
    type: z.enum(ROW_TYPES),
    what: z.string().meta({ description: 'What a call does.' }),
    when_to_use: z.string(),
    arguments: z.object({
      positions: z
        .array(
          z.object({
            position: z.int().min(1),
            name: z.string(),
            note: z.string().optional(),
            open_ended: z.literal(true).optional(),
          }),
        )
        .meta({ description: 'The pieces of body, split at |; open_ended: this one and all after it.' }),
      schema: jsonObject.optional().meta({ description: 'JSON Schema of args. Absent: the row takes strings.' }),
    }),
    example: callBody.nullable().meta({ description: 'A request body that works; null when none is known or short.' }),
    effect: z.enum(EFFECTS),
    risk: z.enum(['low', 'high']),
    call: z.object({ method: z.literal('POST'), path: z.literal('/api/dispatch'), body: callBody }),
    outcome: z.string(),
    errors: z.string(),
    fingerprint: z.string().meta({ description: 'Send it as expect_contract to refuse a changed row.' }),
    version: z.int(),
    enabled: z.boolean(),
    links: z.object({ contract_markdown: z.string(), skill: z.string(), map: z.string() }),
    truncated: z.literal(true).optional().meta({ description: 'A text was cut, or an example left out, for size.' }),
  })
  .meta({ id: 'Contract' });

/** What a caller reads before calling a row. */
export type Contract = z.infer<typeof contractSchema>;

/** A contract's JSON text is smaller than this, in bytes, for a row without a schema. */
export const CONTRACT_BYTES_MAX = 2_048;
/** A contract's Markdown is smaller than this, in bytes, for a row without a schema. */
export const CONTRACT_MARKDOWN_BYTES_MAX = 1_500;
