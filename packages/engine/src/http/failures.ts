import { errors } from 'undici';
import type { Health } from './breaker.js';
import { AddressRefusedError } from './connector.js';
import type { StopCause } from './deadline.js';
import { UnknownCodingError } from './inflate.js';
import type { HttpFailure } from './types.js';

/** A failed attempt, and what may follow from it. */
export interface AttemptFailure extends HttpFailure {
  /** A read may be sent again. */
  readonly retriable: boolean;
  readonly health: Health;
}

const TLS_CODES = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'EPROTO',
]);
const TLS_PREFIX = /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_)/;
const PROTOCOL_PREFIX = /^(HPE_|Z_|ERR_HTTP2_|ERR_BROTLI|ERR__ERROR_|ERR_ZLIB)/;
const NETWORK_CODES = new Set(['UND_ERR_SOCKET', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_INFO', 'ECONNRESET', 'EPIPE']);
const DNS_CODES = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME', 'ESERVFAIL', 'ETIMEOUT']);
const PERMANENT_DNS_CODES = new Set(['ENOTFOUND', 'EAI_NODATA', 'EAI_NONAME']);
const CLOSED_CODES = new Set(['UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);

/** The failure of a call that was stopped. */
export function toStopFailure(cause: StopCause, origin: string, timeoutMs: number): AttemptFailure {
  if (cause === 'cancelled') {
    return {
      code: 'cancelled',
      message: 'the caller gave up before the answer came',
      retriable: false,
      health: 'unknown',
    };
  }
  return {
    code: 'upstream_timeout',
    message: `${origin} did not finish its answer within ${timeoutMs} ms`,
    retriable: false,
    health: 'down',
  };
}

/**
 * Turns what undici, the socket, TLS or zlib threw into a failure. The message names the origin and the cause's code,
 * never the URL or the cause's own text, either of which may hold a secret.
 * @throws the error itself when it is none of those: a defect.
 */
export function toAttemptFailure(error: unknown, origin: string): AttemptFailure {
  if (error instanceof AddressRefusedError) {
    return { code: 'address_refused', message: error.message, retriable: false, health: 'unknown' };
  }
  if (error instanceof UnknownCodingError) {
    return { code: 'upstream_protocol', message: `${origin} sent ${error.message}`, retriable: false, health: 'up' };
  }
  const code = getCode(error);
  if (CLOSED_CODES.has(code)) {
    return { code: 'cancelled', message: 'the server is stopping', retriable: false, health: 'unknown' };
  }
  if (TLS_CODES.has(code) || TLS_PREFIX.test(code)) {
    return {
      code: 'upstream_tls',
      message: `no secure connection to ${origin} (${code})`,
      retriable: false,
      health: 'down',
    };
  }
  if (isNetwork(error, code)) {
    return {
      code: 'upstream_unreachable',
      message: `no answer from ${origin} (${code})`,
      retriable: !PERMANENT_DNS_CODES.has(code),
      health: 'down',
    };
  }
  if (isProtocol(error, code)) {
    return {
      code: 'upstream_protocol',
      message: `${origin} did not answer in well-formed HTTP (${code || 'HPE'})`,
      retriable: false,
      health: 'up',
    };
  }
  throw error;
}

/** What the system's calls throw carries the name of the call. */
function isNetwork(error: unknown, code: string): boolean {
  return NETWORK_CODES.has(code) || DNS_CODES.has(code) || (error instanceof Error && 'syscall' in error);
}

function isProtocol(error: unknown, code: string): boolean {
  if (error instanceof errors.InvalidArgumentError) return false;
  if (error instanceof errors.UndiciError || error instanceof errors.HTTPParserError) return true;
  return PROTOCOL_PREFIX.test(code);
}

/** Node wraps the failures of several addresses in an AggregateError. */
function getCode(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error instanceof AggregateError ? getCode(error.errors[0]) : '';
}
