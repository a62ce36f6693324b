/** What one failure code means to a caller: its HTTP status, a title, and what to do next. */
export interface ErrorEntry {
  /** HTTP status (RFC 9110) of an answer that carries the code. */
  readonly status: number;
  /** Short, stable summary (RFC 9457 `title`). */
  readonly title: string;
  /** What the caller does next. */
  readonly fix: string;
}

const entry = (status: number, title: string, fix: string): ErrorEntry => ({ status, title, fix });

/** The one catalogue of failures that stop a request before its row ran. README prints it, `/errors/{code}` serves it. */
export const ERROR_CODES = {
  unauthorized: entry(
    401,
    'no valid credential',
    'send Authorization: Bearer <owner key>, or the token of a grant where one is enough',
  ),
  invalid_json: entry(400, 'the body is not valid JSON', 'send one JSON object with content-type: application/json'),
  invalid_args: entry(
    400,
    'the arguments do not fit the contract',
    'read the contract, correct the named argument, send again',
  ),
  unrecognized_request: entry(400, 'unknown or conflicting fields', 'send only the fields that the message names'),
  payload_too_large: entry(413, 'the request is too large', 'send a smaller body; the limit is in the message'),
  unsupported_media_type: entry(415, 'the content type is not JSON', 'send content-type: application/json'),
  unknown_key: entry(404, 'no row has that key', 'use a key of did_you_mean, or search with ?ask='),
  unknown_receipt: entry(404, 'no receipt has that id', 'check the id; it is proof.invocation_id of an answer'),
  unknown_version: entry(404, 'the row has no such version', 'list the versions at /api/directory/{key}/versions'),
  not_found: entry(404, 'nothing is at this address', 'GET /api/dispatch lists the actions there are'),
  request_timeout: entry(408, 'the request did not arrive in time', 'send it again, whole'),
  headers_too_large: entry(
    431,
    'the address and headers are too long',
    'shorten the question, or what the headers hold',
  ),
  method_not_allowed: entry(405, 'the address has no such method', 'use a method that the header Allow names'),
  key_exists: entry(409, 'a row with that key exists', 'change it with PUT or PATCH, or choose another key'),
  capability_disabled: entry(409, 'the row is disabled', 'choose another row, or ask the owner to enable it'),
  contract_changed: entry(
    409,
    'the row changed since the contract was read',
    'read the contract again, then call with its fingerprint',
  ),
  owner_required: entry(403, 'that is for the owner alone', 'send the owner key, or ask the owner'),
  unknown_grant: entry(404, 'no grant has that fingerprint', 'list the grants at /api/grants'),
  expired: entry(403, 'the grant has expired', 'ask whoever gave the token for a new one'),
  revoked: entry(403, 'the grant was revoked', 'ask whoever gave the token for a new one'),
  scope_mismatch: entry(403, 'the grant is not for that row', 'call a row that the grant covers; explain=1 lists them'),
  audience_bound: entry(403, 'the grant is bound to another audience', 'call as the audience that the reason names'),
  owner_gate_required: entry(403, 'a person must agree to the call', 'wait until the call is approved'),
  effect_not_granted: entry(
    403,
    'the grant does not allow what the row does',
    'call a row of a granted effect, or ask for a grant with this one',
  ),
  risk_ceiling: entry(
    403,
    'the row is riskier than the grant allows',
    'call a row of low risk, or ask for a grant with risk_ceiling: "high"',
  ),
  body_not_allowed: entry(403, 'the grant fixes the body', 'send no body and no arguments'),
  payload_ceiling: entry(
    413,
    'the body is larger than the grant allows',
    'send fewer bytes; the reason has the size and the most',
  ),
  token_exhausted: entry(429, 'the uses of the grant are spent', 'ask whoever gave the token for a new one'),
  budget_exhausted: entry(429, 'the budget of the grant is spent', 'ask whoever gave the token for a new one'),
  grant_wider: entry(
    403,
    'a derived grant would allow more than its parent',
    'leave the named members out, or ask for less than the parent has',
  ),
  grant_too_deep: entry(403, 'the grant was derived too many times', 'derive from a grant nearer to the owner'),
  version_mismatch: entry(
    412,
    'the row changed since it was read',
    'read the row again and send its version in If-Match',
  ),
  invalid_row: entry(400, 'the row is not well formed', 'correct the fields that the errors name'),
  hygiene_refused: entry(422, 'the row breaks hygiene rules', 'correct every violation listed; nothing was changed'),
  credential_missing: entry(
    424,
    'a credential of the row is not set',
    'set the named environment variable, or its _FILE form, on the server',
  ),
  bad_json_value: entry(
    400,
    'an argument is not a JSON value where the template needs one',
    'send a JSON value for that argument',
  ),
  bad_template_value: entry(
    400,
    'an argument does not fit its place in the template',
    'send a value that the message allows',
  ),
  unknown_approval: entry(404, 'no call waits by that id', 'list the calls that wait at /api/approvals'),
  approval_decided: entry(409, 'the call no longer waits', 'ask for its receipt: it tells what was decided'),
  approval_denied: entry(403, 'a person did not agree to the call', 'ask whoever decided; the receipt names them'),
  approval_expired: entry(403, 'nobody decided on the call in time', 'call again, and have it decided'),
  confirm_required: entry(
    409,
    'the call would do again what changes the world',
    'look at the receipt, then send the same with confirm: true',
  ),
  replay_redacted: entry(
    409,
    'the recorded input held a secret, which is not kept',
    'send the call itself, with repairs set to the receipt if it failed',
  ),
  payload_expired: entry(410, 'the recorded input is no longer kept', 'send the call itself'),
  nothing_to_repair: entry(409, 'there is nothing to repair', 'send the call by itself, without repairs'),
  idempotency_mismatch: entry(409, 'the Idempotency-Key came with another request', 'use a new key for a new request'),
  idempotency_pending: entry(
    409,
    'the first request with the Idempotency-Key has no answer yet',
    'send the same again later: it is answered once',
  ),
  prefetch_refused: entry(403, 'a prefetch or preview runs nothing', 'send the request when its answer is wanted'),
  too_deep: entry(409, 'calls nest too deep', 'call the inner row by itself'),
  type_unavailable: entry(501, 'this server does not run rows of that type', 'call an fn or http row'),
  rate_limited: entry(429, 'too many requests', 'wait for the seconds in Retry-After, then send again'),
  lane_timeout: entry(504, 'no answer from the lane yet', 'the call goes on; ask for its receipt'),
  lane_unavailable: entry(503, 'no runner serves the lane', 'start a runner for the lane, or send mode: "async"'),
  ledger_unavailable: entry(
    503,
    'receipts cannot be written now',
    'send again later; if a receipt id is given, look it up first',
  ),
  database_unavailable: entry(
    503,
    'the database is out of reach',
    'send again later; ask and key still answer. After a change, read the row first: it may have been made',
  ),
  too_many_streams: entry(503, 'no room for another event stream', 'close one that is not needed, or send again later'),
  shutting_down: entry(503, 'the server is stopping', 'send again; another process will answer'),
  internal: entry(500, 'a defect of the server', 'report it with the trace id'),
} as const satisfies Record<string, ErrorEntry>;

/** A name of {@link ERROR_CODES}. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** Tells whether `name` is in the catalogue. */
export function isErrorCode(name: string): name is ErrorCode {
  return Object.hasOwn(ERROR_CODES, name);
}
