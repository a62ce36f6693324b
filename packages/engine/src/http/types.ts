import type { Auth } from '@rowcall/contract';
import type { Effect, JsonObject, JsonValue, Limits, Log } from '@rowcall/protocol';
import type { TokenVault } from '../oauth/vault.js';

/** One address that a name resolved to. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** What the http runner takes from its surroundings. */
export interface HttpRunnerOptions {
  /** Networks (CIDR, RFC 4632 and RFC 4291) that may be dialled although they are not public. */
  readonly allowNets: readonly string[];
  /** Opens 127.0.0.0/8 and ::1. */
  readonly allowLoopback: boolean;
  /** Sent as `user-agent` unless the row sets its own. */
  readonly userAgent: string;
  /** All addresses of a name; default: the system's resolver. */
  readonly resolve?: (hostname: string) => Promise<readonly ResolvedAddress[]>;
  /** The value of an environment variable that holds a secret, or of the file that its `_FILE` form names. */
  readonly credential: (name: string) => string | undefined;
  /** Uniform in [0, 1): spreads retries. */
  readonly random: () => number;
  /** Monotonic milliseconds for the circuit breaker; default: `performance.now`. */
  readonly now?: () => number;
  /** Certificate authorities (PEM) trusted beside those of Node. */
  readonly ca?: readonly string[];
  /** What oauth labels need beside it. Without, their settings are read by `credential`, and their tokens end with the runner. */
  readonly oauth?: HttpOauthOptions;
}

/** What the http runner takes for oauth labels. */
export interface HttpOauthOptions {
  /** The value of an environment variable that holds no secret. */
  readonly setting: (name: string) => string | undefined;
  /** Where tokens are kept. */
  readonly vault: TokenVault;
  /** Learns of every token of a label before it is used, so that it can be hidden. */
  readonly onSecret: (prefix: string, value: string) => void;
  readonly log: Log;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** A request with every placeholder already filled in. */
export interface HttpCall {
  readonly method: string;
  readonly url: string;
  /** Headers of the row. The credential's header wins over one of the same name. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: { readonly contentType: string; readonly text: string } | null;
  readonly auth: Auth;
  /** Only `read` is sent a second time. */
  readonly effect: Effect;
  readonly limits: Limits | null;
}

/** What is known of the upstream's answer beside its body. */
export interface Upstream {
  readonly status: number;
  readonly content_type: string | null;
  /** The result holds only the beginning of the body. */
  readonly truncated?: true;
  /** Bytes of the body that arrived, after decompression; given with `truncated`. */
  readonly bytes?: number;
  /** Lower-case hex SHA-256 of the whole body, after decompression; absent when it did not arrive whole. */
  readonly sha256?: string;
}

/** Why a run failed, in the words of the catalogue of upstream failures. */
export interface HttpFailure {
  readonly code: string;
  readonly message: string;
}

/** How a run ended. `upstream` is null when no answer came. */
export interface HttpOutcome {
  readonly ok: boolean;
  /** JSON when the upstream says so and the body parses; else text, or `{base64, content_type}`; null without an answer. */
  readonly result: JsonValue;
  readonly upstream: Upstream | null;
  readonly error?: HttpFailure;
}

/** Runs http rows. */
export interface HttpRunner {
  /**
   * Sends one request and waits for its outcome. A failure of the upstream is an outcome, not an error.
   * @throws AppError when nothing was sent for want of a credential or of a well-formed request.
   */
  run(call: HttpCall, signal: AbortSignal): Promise<HttpOutcome>;
  /** The exact request that `run` would send, without a credential's value, and the variables that are not set. */
  shape(call: HttpCall): { readonly shape: JsonObject; readonly missing: readonly string[] };
  /** @throws AppError credential_missing, as `run` would before anything is sent. */
  requireCredential(auth: Auth): void;
  /** The environment variables that a credential needs and that are not set. */
  missing(auth: Auth): readonly string[];
  /** Ends every connection; calls in flight end as `cancelled`. May be called twice. */
  close(): Promise<void>;
}
