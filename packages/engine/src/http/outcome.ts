import { BODY_STOP_BYTES } from './body.js';
import type { Answer } from './exchange.js';
import { toResult } from './result.js';
import type { HttpFailure, HttpOutcome, Upstream } from './types.js';

const CONTENT_TYPE_CHARACTERS_MAX = 256;

/**
 * The outcome of a call that was answered to the end: a status of 400 or more failed (RFC 9110 15), the body is kept.
 * @param note what else there is to say of a failure.
 */
export function toAnswerOutcome(answer: Answer, note?: string): HttpOutcome {
  const { status, body } = answer;
  if (body.stopped) {
    const message = `the answer is larger than ${BODY_STOP_BYTES} bytes: reading stopped there`;
    return toFailureOutcome({ code: 'response_too_large', message }, answer);
  }
  if (status >= 400) {
    const message = `the upstream answered ${status}${note === undefined ? '' : `; ${note}`}`;
    return toFailureOutcome({ code: `upstream_${status}`, message }, answer);
  }
  return { ok: true, result: toAnswerResult(answer), upstream: toUpstream(answer) };
}

/** The outcome of a call that failed, with what there is of an answer. */
export function toFailureOutcome({ code, message }: HttpFailure, answer: Answer | null): HttpOutcome {
  return {
    ok: false,
    result: answer === null ? null : toAnswerResult(answer),
    upstream: answer === null ? null : toUpstream(answer),
    error: { code, message },
  };
}

function toAnswerResult({ body, contentType }: Answer): HttpOutcome['result'] {
  return toResult({ bytes: body.bytes, contentType, truncated: body.truncated });
}

function toUpstream({ status, contentType, body }: Answer): Upstream {
  return {
    status,
    content_type: contentType?.slice(0, CONTENT_TYPE_CHARACTERS_MAX) ?? null,
    ...(body.truncated ? { truncated: true, bytes: body.size } : {}),
    ...(body.sha256 === null ? {} : { sha256: body.sha256 }),
  };
}
