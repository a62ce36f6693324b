/** What the id of an ask looks like, as {@link INVOCATION_ID_PATTERN}. */
export const ASK_ID_PATTERN = /^ask_[0-9a-f]{32}$/;
/** What an invocation id looks like: `inv_` and a UUID version 7 (RFC 9562) without dashes. */
export const INVOCATION_ID_PATTERN = /^inv_[0-9a-f]{32}$/;
