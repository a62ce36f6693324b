import { AppError } from '@rowcall/errors';
import type { JsonValue } from '@rowcall/protocol';
import { z } from 'zod';
import type { HttpOutcome, HttpRunner } from '../http/types.js';
import { FunctionFailure } from './call.js';
import { defineFunction, type FunctionDefinition } from './registry.js';

const method = z
  .string()
  .toUpperCase()
  .pipe(z.enum(['GET', 'HEAD'], 'must be GET or HEAD'));

const url = z.string().max(8_192).refine(isWebAddress, 'must be an http:// or https:// address without a user');

function isWebAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
}

/** HTTP_FETCH: reads an address with the runner of http rows, so under the same guards, limits and timeouts; no credential. */
export function buildHttpFetch(http: HttpRunner): FunctionDefinition {
  return defineFunction({
    name: 'HTTP_FETCH',
    what: 'Reads a public web address: status, content type, body.',
    effect: 'read',
    input: z.tuple([url, z.literal('').or(method).optional()]),
    async run([address, verb], { signal, limits }) {
      const request = { method: verb || 'GET', url: address, headers: [], body: null } as const;
      const outcome = await http.run({ ...request, auth: { kind: 'none' }, effect: 'read', limits }, signal);
      return toFetched(outcome);
    },
  });
}

/** @throws FunctionFailure for an outcome that failed, a status of 400 or more included. */
function toFetched({ ok, result, upstream, error }: HttpOutcome): JsonValue {
  const fetched = upstream === null ? null : { ...upstream, body: result };
  if (ok) return fetched as JsonValue;
  if (error === undefined) throw new AppError('internal', 'an http call failed without a reason');
  throw new FunctionFailure(error.code, error.message, fetched as JsonValue);
}
