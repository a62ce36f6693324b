/** What an invocation id looks like: `inv_` and a UUID version 7 (RFC 9562) without dashes. */
export const INVOCATION_ID_PATTERN = /^inv_[0-9a-f]{32}$/;
/** What a trace id looks like. */
export const TRACE_ID_PATTERN = /^t_[0-9a-f]{32}$/;

/** Writes a UUID (RFC 9562, version 7: time-ordered, 74 random bits) as an invocation id. */
export function toInvocationId(uuid: string): string {
  return `inv_${uuid.replaceAll('-', '')}`;
}

/** Writes a UUID (RFC 9562) as a trace id. */
export function toTraceId(uuid: string): string {
  return `t_${uuid.replaceAll('-', '')}`;
}
