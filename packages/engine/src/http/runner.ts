import { type Auth, credentialNames } from '@rowcall/contract';
import { AppError } from '@rowcall/errors';
import { silentLog } from '@rowcall/protocol';
import { buildTokenSender } from '../oauth/send.js';
import { listMissingSettings, type OauthLookup, readOauthSettings } from '../oauth/settings.js';
import { type CredentialSource, fixedSource, oauthSource } from '../oauth/source.js';
import { OauthError } from '../oauth/token-request.js';
import { OauthTokens } from '../oauth/tokens.js';
import { NO_VAULT } from '../oauth/vault.js';
import { buildAddressPolicy } from './address.js';
import { resolveCredential } from './auth.js';
import { buildCircuitBreaker } from './breaker.js';
import { buildCheckedConnector, resolveHostname } from './connector.js';
import { openDeadline } from './deadline.js';
import { toStopFailure } from './failures.js';
import { toFailureOutcome } from './outcome.js';
import { buildPools } from './pools.js';
import { buildValueRedactor, type ValueRedactor } from './redact.js';
import { type OutgoingRequest, toOutgoingRequest, withHeaderCredential } from './request.js';
import { Run, type RunOptions } from './run.js';
import { shapeHttpCall } from './shape.js';
import type { HttpCall, HttpOauthOptions, HttpOutcome, HttpRunner, HttpRunnerOptions } from './types.js';

const TIMEOUT_DEFAULT_MS = 30_000;
/** How long, in ms, a stop waits for tokens that are being got. */
const TOKEN_GRACE_MS = 5_000;
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
  const shared = { pools, breaker, random: options.random };
  const credentials = buildCredentials(options, shared);
  const toRedactor = buildRedactorCache();
  let closed = false;
  return {
    run: async (call, signal) => {
      if (closed) throw new AppError('shutting_down', 'the http runner is closed');
      const source = credentials.toSource(call.auth);
      const request = toOutgoingRequest(call, source.outline, options.userAgent);
      const outcome = await send(request, { call, source, signal, shared });
      return redact(outcome, toRedactor(source));
    },
    shape: (call) => ({ shape: shapeHttpCall(call, options), missing: credentials.missing(call.auth) }),
    requireCredential: (auth) => void credentials.toSource(auth),
    missing: (auth) => credentials.missing(auth),
    close: async () => {
      closed = true;
      await credentials.stop();
      await pools.destroy();
    },
  };
}

type Shared = Pick<RunOptions, 'pools' | 'breaker' | 'random'>;

/** Where the runner's calls get their credentials from. */
interface RunnerCredentials {
  /** @throws AppError `credential_missing` before anything is sent. */
  toSource(auth: Auth): CredentialSource;
  missing(auth: Auth): readonly string[];
  stop(): Promise<void>;
}

function buildCredentials(options: HttpRunnerOptions, shared: Shared): RunnerCredentials {
  const { credential, userAgent } = options;
  const oauth = options.oauth ?? toLoneOauth(options);
  const lookup: OauthLookup = { setting: oauth.setting, secret: credential, keepsTokens: oauth.vault.keepsTokens };
  const tokens = new OauthTokens({ ...oauth, request: buildTokenSender({ shared, userAgent, now: oauth.now }) });
  return {
    toSource: (auth) =>
      auth.kind === 'oauth'
        ? oauthSource(readOauthSettings(auth.label, lookup), tokens)
        : fixedSource(resolveCredential(auth, credential)),
    missing: (auth) =>
      auth.kind === 'oauth'
        ? listMissingSettings(auth.label, lookup)
        : credentialNames(auth).filter((name) => !credential(name)),
    stop: () => tokens.stop(TOKEN_GRACE_MS),
  };
}

function toLoneOauth({ credential }: HttpRunnerOptions): HttpOauthOptions {
  return { setting: credential, vault: NO_VAULT, onSecret: () => undefined, log: silentLog, now: Date.now };
}

interface SendOptions {
  readonly call: HttpCall;
  readonly source: CredentialSource;
  readonly signal: AbortSignal;
  readonly shared: Shared;
}

/** Gets the credential and sends the request, in the one time that the call may take. */
async function send(request: OutgoingRequest, options: SendOptions): Promise<HttpOutcome> {
  const { call, source, signal, shared } = options;
  const timeoutMs = call.limits?.timeout_ms ?? TIMEOUT_DEFAULT_MS;
  const deadline = openDeadline(timeoutMs, signal);
  try {
    const getting = source.get();
    const credential = getting instanceof Promise ? await deadline.race(getting) : getting;
    if (credential === undefined) return toStopped(deadline.cause() ?? 'timeout', source, timeoutMs);
    const run = new Run(call, { ...shared, deadline, timeoutMs, renew: source.renew });
    return await run.follow(credential === source.outline ? request : withHeaderCredential(request, credential));
  } catch (error) {
    if (!(error instanceof OauthError)) throw error;
    return toFailureOutcome({ code: 'oauth_failed', message: error.message }, null);
  } finally {
    deadline.close();
  }
}

/** The outcome of a call whose time was up before it had its token. */
function toStopped(cause: 'timeout' | 'cancelled', { outline }: CredentialSource, timeoutMs: number): HttpOutcome {
  return toFailureOutcome(toStopFailure(cause, `the provider of ${outline.label}`, timeoutMs), null);
}

/** Preparing a redactor costs more than using it, and the same few credentials are used again and again. */
function buildRedactorCache(): (source: CredentialSource) => ValueRedactor | undefined {
  const known = new Map<string, { readonly secrets: readonly string[]; readonly redactor: ValueRedactor }>();
  return ({ outline: { label }, secrets }) => {
    if (secrets.length === 0) return undefined;
    const entry = known.get(label);
    if (entry !== undefined && isSame(secrets, entry.secrets)) return entry.redactor;
    const redactor = buildValueRedactor(secrets);
    if (known.size >= REDACTORS_MAX) known.clear();
    known.set(label, { secrets, redactor });
    return redactor;
  };
}

const isSame = (secrets: readonly string[], others: readonly string[]): boolean =>
  secrets.length === others.length && secrets.every((secret, index) => secret === others[index]);

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
