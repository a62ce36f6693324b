import { AppError } from '@rowcall/errors';
import { hashToken, toGrantFingerprint } from '@rowcall/grants';
import {
  attenuateBodySchema,
  GRANT_TOKEN_PATTERN,
  isJsonObject,
  type JsonObject,
  mintBodySchema,
} from '@rowcall/protocol';
import { z } from 'zod';
import { parseRowJson } from '../directory/parse-row.js';
import type { Grants } from '../grants/grants.js';
import { callOf } from './call.js';
import { defineFunction, type FunctionDefinition } from './registry.js';

const request = z.union([z.string().max(131_072), z.custom<JsonObject>(isJsonObject)], 'must be a JSON object');
const name = z.string().max(256);
const reason = z.string().max(1_000).optional();

/** Reads a request from JSON, in the words of the REST addresses. @throws AppError invalid_json, invalid_args. */
function read<T>(schema: z.ZodType<T>, given: string | JsonObject): T {
  const value = typeof given === 'string' ? parseRowJson(given) : given;
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new AppError('invalid_args', `${issue?.path.join('.') || 'the request'}: ${issue?.message}`);
}

/** A grant is named by its fingerprint, or by the token itself. */
const toFingerprint = (named: string): string =>
  GRANT_TOKEN_PATTERN.test(named) ? toGrantFingerprint(hashToken(named)) : named;

/**
 * The verbs of grants as functions, so that a caller of the door reaches them as rows. The owner mints; who holds a grant
 * derives a narrower one from it, and sees and ends only that one and what derives from it.
 */
export function buildGrantFunctions(grants: Grants): readonly FunctionDefinition[] {
  return [
    defineFunction({
      name: 'CAP_MINT',
      what: 'A new grant; for who holds a grant, a narrower one. Its token is shown this once.',
      effect: 'write',
      input: z.tuple([request]),
      run([given], context) {
        const { caller, reason: why } = callOf(context);
        return caller.chain.length === 0
          ? grants.mint(read(mintBodySchema, given), caller, why).then(toMinted)
          : grants.attenuate(read(attenuateBodySchema, given), caller, why).then(toMinted);
      },
    }),
    defineFunction({
      name: 'CAP_EXPLAIN',
      what: 'What a grant may do now, and what is left of it.',
      effect: 'read',
      input: z.tuple([name]),
      run: ([named], context) => grants.explain(toFingerprint(named), callOf(context).caller),
    }),
    defineFunction({
      name: 'CAP_REVOKE',
      what: 'Ends a grant and all that derive from it.',
      effect: 'destructive',
      input: z.tuple([name, reason]),
      async run([named, why], context) {
        const { caller, reason: callReason } = callOf(context);
        const fingerprint = toFingerprint(named);
        return { fingerprint, revoked_at: await grants.revoke(fingerprint, caller, why ?? callReason) };
      },
    }),
  ];
}

const toMinted = ({ token, grant }: Awaited<ReturnType<Grants['mint']>>) => ({ token, ...grant });
