import { openDeadline } from '../http/deadline.js';
import { Run, type RunOptions } from '../http/run.js';
import { parseTokenAnswer, TOKEN_ANSWER_BYTES_MAX, toTokenRequest } from './token-request.js';
import type { OauthTokensOptions } from './tokens.js';

/** How long, in ms, a provider may take to give a token. */
const TIMEOUT_MS = 10_000;

/** What {@link buildTokenSender} needs. */
export interface TokenSenderOptions {
  /** What requests for tokens share with all other calls. */
  readonly shared: Pick<RunOptions, 'pools' | 'breaker' | 'random'>;
  readonly userAgent: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Builds what asks a provider, by the same guarded connections as every call: once, and with no redirect followed. */
export function buildTokenSender({ shared, userAgent, now }: TokenSenderOptions): OauthTokensOptions['request'] {
  return async (settings, refreshToken, signal) => {
    const deadline = openDeadline(TIMEOUT_MS, signal);
    try {
      const call = { effect: 'write', limits: { max_response_bytes: TOKEN_ANSWER_BYTES_MAX } } as const;
      const run = new Run(call, { ...shared, deadline, timeoutMs: TIMEOUT_MS, redirectsMax: 0 });
      const sentAt = now();
      const outcome = await run.follow(toTokenRequest(settings, refreshToken, userAgent));
      return parseTokenAnswer(outcome, { settings, refreshToken, sentAt });
    } finally {
      deadline.close();
    }
  };
}
