import { OauthError } from '../oauth/token-request.js';
import type { Credential } from './auth.js';
import type { CircuitBreaker, Health } from './breaker.js';
import type { Deadline } from './deadline.js';
import { type Answer, exchange } from './exchange.js';
import { type AttemptFailure, toAttemptFailure, toStopFailure } from './failures.js';
import { toAnswerOutcome, toFailureOutcome } from './outcome.js';
import type { Pools } from './pools.js';
import { REDIRECTS_MAX, toRedirectStep, toTargetRefusal } from './redirect.js';
import { type OutgoingRequest, withHeaderCredential } from './request.js';
import { isRetryStatus, parseRetryAfterMs, RETRIES_MAX, toBackoffMs } from './retry.js';
import type { HttpCall, HttpOutcome } from './types.js';

const RESPONSE_BYTES_DEFAULT = 1_048_576;

/** What one {@link Run} shares with the others, and its own clock. */
export interface RunOptions {
  readonly pools: Pools;
  readonly breaker: CircuitBreaker;
  readonly deadline: Deadline;
  readonly timeoutMs: number;
  readonly random: () => number;
  /** Redirects to follow; {@link REDIRECTS_MAX} when not given. */
  readonly redirectsMax?: number;
  /** Another credential in the place of one that the upstream refused; undefined when there is none. */
  readonly renew?: ((rejected: Credential) => Promise<Credential | undefined>) | undefined;
}

/** One attempt: an answer, a failure, or an answer that broke off. */
type Attempt =
  | { readonly answer: Answer; readonly failure: null }
  | { readonly answer: Answer | null; readonly failure: AttemptFailure };

/** One call on its way through redirects and retries. */
export class Run {
  readonly #call: Pick<HttpCall, 'effect' | 'limits'>;
  readonly #options: RunOptions;
  readonly #redirectsMax: number;
  #retriesLeft: number;
  #isRenewed = false;
  #note: string | undefined;

  constructor(call: Pick<HttpCall, 'effect' | 'limits'>, options: RunOptions) {
    this.#call = call;
    this.#options = options;
    this.#redirectsMax = options.redirectsMax ?? REDIRECTS_MAX;
    this.#retriesLeft = call.effect === 'read' ? RETRIES_MAX : 0;
  }

  /** Sends the request, follows where the answers lead, and ends with the outcome. */
  async follow(first: OutgoingRequest): Promise<HttpOutcome> {
    const refusal = toTargetRefusal(first.url);
    if (refusal !== undefined) return toFailureOutcome(refusal, null);
    let request = first;
    let redirects = 0;
    for (;;) {
      const { answer, failure } = await this.#sendWithRetries(request);
      if (failure !== null) return toFailureOutcome(failure, answer);
      if (answer.location === undefined) {
        const again = await this.#renewCredential(request, answer);
        if (again === undefined) return toAnswerOutcome(answer, this.#note);
        request = again;
        continue;
      }
      if (redirects === this.#redirectsMax) {
        const message = `${request.url.origin} redirects more than ${this.#redirectsMax} times`;
        return toFailureOutcome({ code: 'too_many_redirects', message }, answer);
      }
      const step = toRedirectStep(request, { status: answer.status, location: answer.location }, this.#call.effect);
      if (step.kind === 'refuse') return toFailureOutcome(step.failure, answer);
      request = step.next;
      redirects += 1;
    }
  }

  /** The same request with another credential, once in a call: whatever its effect, the upstream refused it. */
  async #renewCredential(request: OutgoingRequest, { status }: Answer): Promise<OutgoingRequest | undefined> {
    const { renew, deadline } = this.#options;
    if (status !== 401 || renew === undefined || request.credential === null || this.#isRenewed) return undefined;
    this.#isRenewed = true;
    try {
      const credential = await deadline.race(renew(request.credential));
      return credential && withHeaderCredential(request, credential);
    } catch (error) {
      if (!(error instanceof OauthError)) throw error;
      // The answer that there is stays, and says why there is no better one.
      this.#note = error.message;
      return undefined;
    }
  }

  async #sendWithRetries(request: OutgoingRequest): Promise<Attempt> {
    let last: Attempt | undefined;
    for (;;) {
      const attempt = await this.#send(request);
      if (attempt === undefined) return last ?? toOpenCircuit(request.url.origin);
      last = attempt;
      const waitMs = this.#toWaitMs(attempt);
      if (waitMs === undefined) return attempt;
      this.#retriesLeft -= 1;
      await this.#options.deadline.wait(waitMs);
    }
  }

  /** @returns undefined when the circuit is open */
  async #send(request: OutgoingRequest): Promise<Attempt | undefined> {
    const { breaker } = this.#options;
    const circuit = `${request.url.origin} ${request.credential?.label ?? ''}`;
    if (!breaker.enter(circuit)) return undefined;
    let health: Health = 'unknown';
    try {
      const attempt = await this.#attempt(request);
      health = toHealth(attempt);
      return attempt;
    } finally {
      breaker.leave(circuit, health);
    }
  }

  async #attempt(request: OutgoingRequest): Promise<Attempt> {
    try {
      const answer = await exchange(request, {
        pools: this.#options.pools,
        deadline: this.#options.deadline,
        keepBytesMax: this.#call.limits?.max_response_bytes ?? RESPONSE_BYTES_DEFAULT,
      });
      const { error } = answer.body;
      if (error === undefined) return { answer, failure: null };
      return { answer, failure: this.#toFailure(error, request.url.origin) };
    } catch (error) {
      return { answer: null, failure: this.#toFailure(error, request.url.origin) };
    }
  }

  #toFailure(error: unknown, origin: string): AttemptFailure {
    const cause = this.#options.deadline.cause();
    return cause === null ? toAttemptFailure(error, origin) : toStopFailure(cause, origin, this.#options.timeoutMs);
  }

  /** @returns milliseconds until the attempt is made again; undefined when it is not */
  #toWaitMs({ answer, failure }: Attempt): number | undefined {
    if (this.#retriesLeft === 0) return undefined;
    const retryAfterMs = parseRetryAfterMs(answer?.retryAfter, Date.now());
    const isWorthIt = failure === null ? isRetryStatus(answer.status, retryAfterMs !== undefined) : failure.retriable;
    if (!isWorthIt) return undefined;
    const waitMs = Math.max(retryAfterMs ?? 0, toBackoffMs(RETRIES_MAX - this.#retriesLeft, this.#options.random));
    return waitMs < this.#options.deadline.remainingMs() ? waitMs : undefined;
  }
}

function toHealth({ answer, failure }: Attempt): Health {
  if (failure !== null) return failure.health;
  return answer.status >= 500 ? 'down' : 'up';
}

function toOpenCircuit(origin: string): Attempt {
  const message = `${origin} failed several times in a row; it is not called for some seconds`;
  return { answer: null, failure: { code: 'circuit_open', message, retriable: false, health: 'unknown' } };
}
