import { z } from 'zod';
import { isJsonObject, jsonObjectSchema, parseJson } from './json.js';
import { textSchema as text } from './text.js';

/** What a key looks like: an upper-case letter or underscore, then up to 63 more characters. */
export const KEY_PATTERN = /^[A-Z_][A-Z0-9_]{0,63}$/;

/** Keys of rows that people make to try something; they do not count as registry. */
export const SCRATCH_KEY_PATTERN = /^(__|ZZ_TEST|TEST_)/;

/** Which runner executes a row. */
export const ROW_TYPES = ['fn', 'http', 'agent', 'flow'] as const;
export type RowType = (typeof ROW_TYPES)[number];

/** What a call does to the world, mildest first. */
export const EFFECTS = ['read', 'write', 'destructive'] as const;
export type Effect = (typeof EFFECTS)[number];

/** How much care a row needs: `high` when it is marked sensitive. */
export type Risk = 'low' | 'high';

export const keySchema = z
  .string()
  .regex(KEY_PATTERN, 'must match ^[A-Z_][A-Z0-9_]{0,63}$')
  .meta({ description: 'The key of a row.', example: 'NOW' });

export const limitsSchema = z
  .strictObject({
    timeout_ms: z.int().min(1).max(600_000).optional(),
    max_response_bytes: z.int().min(1).max(67_108_864).optional(),
    max_body_bytes: z.int().min(0).max(67_108_864).optional(),
    rate_per_minute: z.int().min(1).max(1_000_000).optional(),
    cost_usd: z.number().min(0).max(10_000).multipleOf(0.000_001).optional(),
    hosts: z.array(text(253)).max(100).optional(),
  })
  .meta({
    description:
      'Limits of one row: milliseconds, bytes, calls per minute, US dollars that a call costs, hosts that an argument may name.',
  });
/** Limits of one row. */
export type Limits = z.infer<typeof limitsSchema>;

/** Every column that a writer may set, with its default. Unknown fields are refused. */
const rowFields = {
  type: z.enum(ROW_TYPES).meta({ description: 'Which runner executes the row.' }),
  target: text(8_192)
    .default('')
    .meta({ description: 'fn: function name; http: METHOD URL; agent: model id; flow: empty.' }),
  auth: text(1_024).nullable().default(null).meta({ description: 'Names environment variables, never holds a value.' }),
  content: text(1_048_576).default('').meta({ description: 'Docstring lines, then the template, prompt or flow.' }),
  category: text(128).default('').meta({ description: 'Groups rows.' }),
  allowed_categories: z.array(text(128)).max(1_000).default([]),
  seq: z.int().default(0).meta({ description: 'Manual order.' }),
  enabled: z.boolean().default(true).meta({ description: 'false: not shown and not callable.' }),
  planner_visible: z.boolean().default(true).meta({ description: 'false: callable by key, not found by ask.' }),
  planner_rank: z.int().default(100).meta({ description: 'Lower first among equals.' }),
  input_schema: jsonObjectSchema
    .nullable()
    .default(null)
    .meta({ description: 'JSON Schema of named arguments; x-arg-order gives positions.' }),
  examples: z
    .array(text(16_384))
    .max(100)
    .default([])
    .meta({ description: 'Argument strings that are known to work.' }),
  sensitive: z.boolean().default(false).meta({ description: 'true: risk is high.' }),
  runner: text(64)
    .nullable()
    .default(null)
    .meta({ description: 'Lane that runs the row; null for the default of its type.' }),
  includes: z.array(text(64)).max(100).default([]),
  effect: z.enum(EFFECTS).nullable().default(null).meta({ description: 'null is derived from type and target.' }),
  pinned_for: z.array(text(512)).max(100).default([]).meta({ description: 'Questions that must lead here.' }),
  demoted: z.boolean().default(false),
  headers: z
    .record(z.string(), text(8_192))
    .nullable()
    .default(null)
    .meta({ description: 'http: extra request headers.' }),
  limits: limitsSchema.nullable().default(null),
  source: text(256).default('manual'),
};

const rowWriteObject = z.strictObject({ key: keySchema, ...rowFields });
const rowPutObject = z.strictObject({ key: keySchema.optional(), ...rowFields });
const rowPatchObject = z.strictObject(
  Object.fromEntries(Object.entries(rowFields).map(([name, field]) => [name, unwrapDefault(field).optional()])) as {
    [Name in keyof typeof rowFields]: z.ZodOptional<z.ZodType<z.output<(typeof rowFields)[Name]>>>;
  },
);

function unwrapDefault(field: z.ZodType): z.ZodType {
  return field instanceof z.ZodDefault ? (field.unwrap() as z.ZodType) : field;
}

const JSON_FIELDS = [
  'input_schema',
  'examples',
  'headers',
  'limits',
  'allowed_categories',
  'includes',
  'pinned_for',
] as const;
const BOOLEAN_FIELDS = ['enabled', 'planner_visible', 'sensitive', 'demoted'] as const;

const BOOLEAN_FORMS = new Map<unknown, boolean>([
  [0, false],
  ['0', false],
  ['false', false],
  [1, true],
  ['1', true],
  ['true', true],
]);

/** Accepts the two forms that occur in the wild: JSON fields as strings that hold JSON, booleans as 0/1. */
function normaliseRowInput(input: unknown): unknown {
  if (!isJsonObject(input)) return input;
  const row: Record<string, unknown> = { ...input };
  for (const name of JSON_FIELDS) {
    const value = row[name];
    if (value === '') delete row[name];
    else if (typeof value === 'string') row[name] = parseJson(value) ?? value;
  }
  for (const name of BOOLEAN_FIELDS) {
    row[name] = BOOLEAN_FORMS.get(row[name]) ?? row[name];
    if (row[name] === undefined) delete row[name];
  }
  return row;
}

/** Body of a POST to the directory: `key` and `type` are all that is required. */
export const rowWriteSchema = z.preprocess(normaliseRowInput, rowWriteObject);
/** Body of a PUT: the whole row; the key is in the address and may be repeated. */
export const rowPutSchema = z.preprocess(normaliseRowInput, rowPutObject);
/** Body of a PATCH: the columns to change. */
export const rowPatchSchema = z.preprocess(normaliseRowInput, rowPatchObject);

/** A row as a writer sends it, defaults filled in. */
export type RowWrite = z.output<typeof rowWriteObject>;
/** The columns that a PATCH changes. */
export type RowPatch = Partial<Omit<RowWrite, 'key'>>;

/** A row as it is answered. Timestamps are RFC 3339. */
export const rowSchema = z
  .object({
    key: keySchema,
    ...(Object.fromEntries(Object.entries(rowFields).map(([name, field]) => [name, unwrapDefault(field)])) as {
      [Name in keyof typeof rowFields]: z.ZodType<z.output<(typeof rowFields)[Name]>>;
    }),
    version: z.int(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'Row' });

/** One row of `directory`. */
export interface Row extends RowWrite {
  /** +1 at each change; never goes back, not even when a key is deleted and made anew. */
  readonly version: number;
  /** RFC 3339. */
  readonly created_at: string;
  /** RFC 3339. */
  readonly updated_at: string;
}
