import { AppError } from '@rowcall/errors';
import { buildAddressPolicy } from './address.js';
import { type Credential, resolveCredential } from './auth.js';
import { buildCircuitBreaker } from './breaker.js';
import { buildCheckedConnector, resolveHostname } from './connector.js';
import { openDeadline } from './deadline.js';
import { buildPools } from './pools.js';
import { buildValueRedactor, type ValueRedactor } from './redact.js';
import { toOutgoingRequest } from './request.js';
import { Run } from './run.js';
import { shapeHttpCall } from './shape.js';
import type { HttpOutcome, HttpRunner, HttpRunnerOptions } from './types.js';

const TIMEOUT_DEFAULT_MS = 30_000;
const REDACTORS_MAX = 256;

/**
 * Builds the runner of http rows: pooled connections, addresses checked as they are dialled, redirects and retries
 * bounded, the credential kept to its origin and out of everything that is returned.
 */
export function buildHttpRunner(options: HttpRunnerOptions): HttpRunner {
  const connect = buildCheckedConnector({
    policy: buildAddressPolicy(options),
    resolve: options.resolve ?? resolveHostname,
    ca: options.ca ?? [],
  });
  const pools = buildPools(connect);
  const breaker = buildCircuitBreaker(options.now ?? (() => performance.now()));
  const toRedactor = buildRedactorCache();
  let closed = false;
  return {
    run: async (call, signal) => {
      if (closed) throw new AppError('shutting_down', 'the http runner is closed');
      const credential = resolveCredential(call.auth, options.credential);
      const request = toOutgoingRequest(call, credential, options.userAgent);
      const timeoutMs = call.limits?.timeout_ms ?? TIMEOUT_DEFAULT_MS;
      const deadline = openDeadline(timeoutMs, signal);
      try {
        const run = new Run(call, { pools, breaker, deadline, timeoutMs, random: options.random });
        return redact(await run.follow(request), toRedactor(credential));
      } finally {
        deadline.close();
      }
    },
    shape: (call) => shapeHttpCall(call, options),
    close: async () => {
      closed = true;
      await pools.destroy();
    },
  };
}

/** Preparing a redactor costs more than using it, and the same few credentials are used again and again. */
function buildRedactorCache(): (credential: Credential) => ValueRedactor | undefined {
  const known = new Map<string, { readonly secrets: readonly string[]; readonly redactor: ValueRedactor }>();
  return ({ label, secrets }) => {
    if (secrets.length === 0) return undefined;
    const entry = known.get(label);
    if (entry !== undefined && secrets.every((secret, index) => secret === entry.secrets[index])) return entry.redactor;
    const redactor = buildValueRedactor(secrets);
    if (known.size >= REDACTORS_MAX) known.clear();
    known.set(label, { secrets, redactor });
    return redactor;
  };
}

/** An upstream may echo the credential: it must not come back. */
function redact(outcome: HttpOutcome, redactor: ValueRedactor | undefined): HttpOutcome {
  if (redactor === undefined) return outcome;
  const { result, upstream, error } = outcome;
  return {
    ...outcome,
    result: redactor.json(upstream?.truncated && typeof result === 'string' ? redactor.cutText(result) : result),
    upstream: upstream && { ...upstream, content_type: upstream.content_type && redactor.text(upstream.content_type) },
    ...(error === undefined ? {} : { error: { code: error.code, message: redactor.text(error.message) } }),
  };
}
