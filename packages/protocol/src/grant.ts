import { z } from 'zod';
import { EFFECTS, KEY_PATTERN, keySchema, type Risk } from './row.js';
import { hashSchema as hash, noteSchema as note, textSchema as text } from './text.js';

/** What a grant's token looks like: `sh.` and the base64url (RFC 4648) of 32 bytes. */
export const GRANT_TOKEN_PATTERN = /^sh\.[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;
/** What a grant's public name looks like: `cap_` and 128 bits in lower-case hex. */
export const GRANT_FINGERPRINT_PATTERN = /^cap_[0-9a-f]{32}$/;

const RISKS = ['low', 'high'] as const satisfies readonly Risk[];

const KEYS_MAX = 1_000;
const PREFIXES_MAX = 100;
const CATEGORIES_MAX = 100;
const TTL_SECONDS_MIN = 60;
const TTL_SECONDS_MAX = 90 * 86_400;
const USES_MAX = 1_000_000_000;
const FIXED_BODY_LENGTH_MAX = 65_536;

const scopeSchema = z
  .union([
    z.enum(['read', 'act']),
    z
      .strictObject({
        keys: z.array(keySchema).max(KEYS_MAX).optional(),
        prefixes: z
          .array(z.string().regex(KEY_PATTERN, 'must be the beginning of a key: ^[A-Z_][A-Z0-9_]{0,63}$'))
          .max(PREFIXES_MAX)
          .optional(),
        categories: z.array(note(128)).max(CATEGORIES_MAX).optional(),
      })
      .refine(
        ({ keys = [], prefixes = [], categories = [] }) => keys.length + prefixes.length + categories.length > 0,
        'must name a key, a prefix or a category',
      ),
  ])
  .meta({
    id: 'GrantScope',
    description:
      '"read": see every row, call none. "act": call any row. Else the rows of the keys, prefixes and categories.',
    example: { keys: ['NOW'] },
  });
/** The rows that a grant is for. */
export type GrantScope = z.output<typeof scopeSchema>;

const effects = z.array(z.enum(EFFECTS)).min(1).max(EFFECTS.length).meta({
  description: 'What calls may do to the world. Default: read for "read" and "act", else what the rows in scope do.',
});
const maxUses = z.int().min(0).max(USES_MAX).meta({ description: 'Calls in all; 0 for no limit.' });
const audience = z
  .string()
  .regex(/^[\x21-\x7e]{1,256}$/, 'must be 1 to 256 visible ASCII characters')
  .meta({ description: 'Who must present the token; calls of others are denied.' });
const riskCeiling = z.enum(RISKS).meta({ description: 'Riskiest rows that may be called. Default: low.' });
const ownerGate = z.boolean().meta({ description: 'true: a person decides on each call. Default: false.' });
const fixedBody = text(FIXED_BODY_LENGTH_MAX).meta({
  description: 'The one body of every call; the caller sends none, or exactly this.',
});
const maxBodyBytes = z.int().min(0).max(67_108_864).meta({ description: 'UTF-8 bytes of a call’s body or arguments.' });
const ratePerMinute = z.int().min(1).max(1_000_000).meta({ description: 'Calls in a minute.' });
const budgetUsd = z.number().positive().max(1_000_000).meta({ description: 'US dollars that calls may cost in all.' });
const ttlSeconds = z.int().min(TTL_SECONDS_MIN).max(TTL_SECONDS_MAX).meta({
  description: 'Seconds until the grant expires: 60 to 7776000 (90 days).',
  example: 3_600,
});
const purpose = note(500).meta({ description: 'Why the grant exists.', example: 'nightly report' });
const actor = note(256).meta({ description: 'Who holds the token, for people to read.' });
const pin = z.boolean().meta({
  description: 'Holds the rows of scope.keys to what they are now: a changed row is denied. Default: true.',
});

/** Body of POST /api/grants. Any other field is refused. */
export const mintBodySchema = z
  .strictObject({
    scope: scopeSchema,
    effects: effects.optional(),
    ttl_seconds: ttlSeconds,
    max_uses: maxUses,
    purpose,
    actor: actor.optional(),
    audience: audience.optional(),
    risk_ceiling: riskCeiling.optional(),
    owner_gate: ownerGate.optional(),
    fixed_body: fixedBody.optional(),
    max_body_bytes: maxBodyBytes.optional(),
    rate_per_minute: ratePerMinute.optional(),
    budget_usd: budgetUsd.optional(),
    pin: pin.optional(),
  })
  .meta({
    id: 'GrantRequest',
    example: { scope: { keys: ['NOW'] }, ttl_seconds: 3_600, max_uses: 10, purpose: 'nightly report' },
  });
/** What the owner asks a new grant to be. */
export type MintBody = z.output<typeof mintBodySchema>;

/** Body of a request for a child of the caller's grant: what is left out is as in the parent. */
export const attenuateBodySchema = mintBodySchema.partial().meta({
  id: 'GrantAttenuation',
  description: 'What is left out is as in the parent.',
  example: { max_uses: 1, purpose: 'one look' },
});
/** What a holder asks a child of a grant to be. */
export type AttenuateBody = z.output<typeof attenuateBodySchema>;

const termFields = {
  scope: scopeSchema,
  effects,
  max_uses: maxUses,
  audience: audience.nullable(),
  risk_ceiling: riskCeiling,
  owner_gate: ownerGate,
  fixed_body: fixedBody.nullable(),
  max_body_bytes: maxBodyBytes.nullable(),
  rate_per_minute: ratePerMinute.nullable(),
  budget_usd: budgetUsd.nullable(),
  pins: z
    .record(keySchema, hash)
    .nullable()
    .meta({ description: 'Contract fingerprints that rows must still have, by key.' }),
};

/**
 * What a grant allows, as it is stored and answered. Every member is required, so that terms read from a table which lack
 * one are an error and never a limit that is not there.
 */
export const grantTermsSchema = z.strictObject(termFields);
/** What a grant allows, as it is stored and answered. `null` is no limit. */
export type GrantTerms = z.output<typeof grantTermsSchema>;

const fingerprint = z
  .string()
  .regex(GRANT_FINGERPRINT_PATTERN)
  .meta({ description: 'Public name of the grant.', example: 'cap_0f9e8d7c6b5a49382716059483726150' });

const grantFields = {
  fingerprint,
  parent: fingerprint.nullable().meta({ description: 'The grant that this one was derived from.' }),
  depth: z.int().meta({ description: 'Derivations since the owner’s grant; 0 for the owner’s own.' }),
  purpose: z.string(),
  actor: z.string().nullable(),
  created_at: z.string().meta({ description: 'RFC 3339.' }),
  expires_at: z.string().meta({ description: 'RFC 3339.' }),
  ...termFields,
};

/** Answer of a mint or an attenuation: the one time that the token is shown. */
export const grantMintedSchema = z
  .object({
    token: z.string().regex(GRANT_TOKEN_PATTERN).meta({ description: 'Shown this once; only its hash is kept.' }),
    ...grantFields,
    invoke_url: z.string().optional().meta({ description: 'Ready to be fetched, where the grant names one row.' }),
    explain_url: z.string(),
  })
  .meta({ id: 'GrantMinted' });

/** Whether a grant can be used, and if not why. */
export const GRANT_STATES = ['active', 'expired', 'revoked', 'exhausted'] as const;
export type GrantState = (typeof GRANT_STATES)[number];

/** A grant in a list. Never the token. */
export const grantItemSchema = z
  .object({
    ...grantFields,
    state: z.enum(GRANT_STATES),
    revoked_at: z.string().nullable().meta({ description: 'RFC 3339.' }),
    uses: z.int().meta({ description: 'Calls so far.' }),
    spent_usd: z.number(),
  })
  .meta({ id: 'Grant' });

/** What one grant may do now, and what is left: the limits of the grants it derives from included. Never the token. */
export const grantExplanationSchema = z
  .object({
    ...grantFields,
    effects: z.array(z.enum(EFFECTS)),
    state: z.enum(GRANT_STATES),
    uses_left: z.int().nullable().meta({ description: 'null: no limit.' }),
    budget_left_usd: z.number().nullable().meta({ description: 'null: no limit.' }),
    covers: z
      .object({
        count: z.int().meta({ description: 'Rows that the token can call now.' }),
        keys: z.array(keySchema).meta({ description: 'The first of them, by key.' }),
      })
      .meta({ description: 'By the checks of a call, for the audience it is bound to and once a person has agreed.' }),
  })
  .meta({ id: 'GrantExplanation' });
/** What one grant may do now, and what is left. */
export type GrantExplanation = z.output<typeof grantExplanationSchema>;
