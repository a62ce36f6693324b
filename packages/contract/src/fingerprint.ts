import type { Effect, JsonValue, Limits, Row } from '@rowcall/protocol';
import { toCanonicalJson } from '@rowcall/protocol';
import { parseDocstring } from './docstring.js';
import { deriveEffect } from './effect.js';

/** The columns that a fingerprint covers. */
export type FingerprintColumns = Pick<
  Row,
  | 'key'
  | 'type'
  | 'target'
  | 'content'
  | 'auth'
  | 'headers'
  | 'input_schema'
  | 'effect'
  | 'sensitive'
  | 'runner'
  | 'includes'
  | 'limits'
>;

/** What a call of a row depends on beside the row. */
export interface FingerprintRelated {
  /** Fingerprints of the included rows, by key; a row that does not exist is left out. */
  readonly includes: Readonly<Record<string, string>>;
  /** Fingerprints of a flow's steps, in the order of its text. */
  readonly steps?: readonly string[];
  /** The effect that the row's function declares. */
  readonly functionEffect?: Effect;
}

/**
 * Names what a call of the row is: the hash of the RFC 8785 text of key, type, target, payload, WHAT, ARGS, auth, headers,
 * input_schema, effect (derived where the row says none), sensitive, runner, includes with their fingerprints, the limits
 * that change behaviour (not the rate), and the steps of a flow. All else may change without changing it.
 *
 * @param sha256 hash of a text's UTF-8 bytes in lower-case hex (FIPS 180-4)
 */
export function fingerprint(
  row: FingerprintColumns,
  related: FingerprintRelated,
  sha256: (text: string) => string,
): string {
  return sha256(toCanonicalJson(toDefinition(row, related)));
}

function toDefinition(row: FingerprintColumns, related: FingerprintRelated): JsonValue {
  const { doc, payload } = parseDocstring(row.content, row.type);
  return {
    key: row.key,
    type: row.type,
    target: row.target,
    payload,
    what: doc.what,
    args: doc.argsText,
    // The empty text and no text say the same.
    auth: row.auth === '' ? null : row.auth,
    headers: row.headers !== null && Object.keys(row.headers).length > 0 ? row.headers : null,
    input_schema: row.input_schema,
    effect: deriveEffect(row, related.functionEffect),
    sensitive: row.sensitive,
    runner: row.runner,
    includes: row.includes.map((key) => [key, toIncluded(related.includes, key)]),
    limits: toBehaviour(row.limits),
    steps: [...(related.steps ?? [])],
  };
}

const toIncluded = (fingerprints: Readonly<Record<string, string>>, key: string) =>
  Object.hasOwn(fingerprints, key) ? (fingerprints[key] ?? null) : null;

function toBehaviour(limits: Limits | null): JsonValue {
  return {
    timeout_ms: limits?.timeout_ms ?? null,
    max_response_bytes: limits?.max_response_bytes ?? null,
    max_body_bytes: limits?.max_body_bytes ?? null,
    hosts: [...new Set(limits?.hosts ?? [])].sort(),
  };
}
