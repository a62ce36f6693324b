export { askQualitySchema, asksAnswerSchema } from './asks.js';
export { toCanonicalJson } from './canonical-json.js';
export {
  type AttenuateBody,
  attenuateBodySchema,
  GRANT_FINGERPRINT_PATTERN,
  GRANT_STATES,
  GRANT_TOKEN_PATTERN,
  type GrantExplanation,
  type GrantScope,
  type GrantState,
  type GrantTerms,
  grantExplanationSchema,
  grantItemSchema,
  grantMintedSchema,
  grantTermsSchema,
  type MintBody,
  mintBodySchema,
} from './grant.js';
export { ASK_ID_PATTERN, INVOCATION_ID_PATTERN } from './ids.js';
export { invocationsAnswerSchema } from './invocations.js';
export {
  isDeeper,
  isJsonObject,
  JSON_DEPTH_MAX,
  type JsonArray,
  type JsonObject,
  type JsonValue,
  parseJson,
} from './json.js';
export { type Log, silentLog } from './log.js';
export {
  type Closing,
  OUTCOMES,
  type Outcome,
  PROOF_STATUSES,
  type ProofStatus,
  type Receipt,
  type ReceiptPayload,
  type ReceiptRecord,
} from './receipt.js';
export {
  EFFECTS,
  type Effect,
  KEY_PATTERN,
  keySchema,
  type Limits,
  limitsSchema,
  type Risk,
  ROW_TYPES,
  type Row,
  type RowPatch,
  type RowType,
  type RowWrite,
  rowPatchSchema,
  rowPutSchema,
  rowSchema,
  rowWriteSchema,
  SCRATCH_KEY_PATTERN,
} from './row.js';
export { noteSchema } from './text.js';
export {
  askIdSchema,
  type Confirmation,
  confirmationSchema,
  type Descriptor,
  type DispatchBody,
  descriptorSchema,
  dispatchAnswerSchema,
  dispatchBodySchema,
  jsonSchema,
  parkedAnswerSchema,
  problemSchema,
  proofSchema,
  queuedAnswerSchema,
  shapeAnswerSchema,
} from './wire.js';
