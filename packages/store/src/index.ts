export {
  type Decider,
  decideApproval,
  findApproval,
  insertApproval,
  listApprovals,
  listExpiredApprovals,
  type NewApproval,
  type StoredApproval,
} from './approval.js';
export { ANYONE, type AskRead, insertAsks, type NewAsk, noteAskReads } from './ask.js';
export { type LearnedPair, listLearnedPairs } from './ask-learned.js';
export { listAsks, type StoredAsk } from './ask-list.js';
export { type AskQuality, measureAsks } from './ask-quality.js';
export { isDatabaseAway } from './database-away.js';
export {
  type Authorship,
  deleteRow,
  findVersion,
  insertNewRows,
  insertRow,
  listDeletions,
  listRows,
  listRowVersions,
  listVersions,
  type RowChange,
  type RowVersion,
  type StoredRow,
  updateRow,
} from './directory.js';
export { type BulkResult, upsertRows, writeBulk } from './directory-bulk.js';
export {
  EVENT_CHANNEL,
  type EventFilter,
  insertEvent,
  insertEvents,
  listEvents,
  type NewEvent,
  type StoredEvent,
} from './event.js';
export { EventTail } from './event-tail.js';
export { type Expired, type Expiry, expireAsks, expirePayloads } from './expiry.js';
export { type Failures, Gather, type GatherOptions, NO_FAILURES } from './gather.js';
export {
  findGrantChain,
  GRANT_CHANNEL,
  type GrantName,
  insertGrant,
  listGrants,
  revokeGrant,
} from './grant.js';
export {
  deleteOldKeys,
  findKnownRequest,
  type KnownRequest,
  saveAnswer,
} from './idempotency.js';
export {
  type ClaimedJob,
  COMPLETE_BATCH_MAX,
  claimJobs,
  completeJobs,
  DONE_CHANNEL,
  findCallState,
  insertJobs,
  JOB_CHANNEL,
  type NewJob,
  READ_ATTEMPTS_MAX,
  releaseJobs,
  takeOverDeadLeases,
} from './job.js';
export { Ledger, type LedgerOptions } from './ledger.js';
export { Listener, type ListenerOptions, type Subscription } from './listener.js';
export {
  findLastContract,
  findLastGoodRequest,
  type LastError,
  listLastErrors,
  type Measured,
  measureRow,
} from './measure.js';
export { migrate } from './migrate.js';
export {
  claimOauthToken,
  findOauthToken,
  type OauthTokenKey,
  releaseOauthToken,
  type StoredOauthToken,
  saveOauthToken,
} from './oauth-token.js';
export {
  abandonCalls,
  type Beginning,
  beginCallIn,
  beginCalls,
  type IdempotencyClaim,
  interruptDeadCalls,
  isUnregistered,
  listOpenCalls,
  type Verdict,
} from './opened.js';
export { isTransient, openPool, type PoolOptions } from './pool.js';
export {
  deleteProcess,
  drainProcess,
  HEARTBEAT_EVERY_MS,
  HEARTBEAT_MAX_AGE_MS,
  hasLiveRunner,
  insertProcess,
  listLiveLanes,
  type NewProcess,
  PROCESS_CHANNEL,
  updateHeartbeat,
} from './process.js';
export {
  findReceipt,
  findReceiptPayload,
  insertReceipts,
  insertReceiptsIn,
  listEndedCalls,
  listTrace,
} from './receipt.js';
export { type LaterCall, listLaterCalls } from './receipt-lineage.js';
export { listReceipts, type ReceiptQuestion } from './receipt-list.js';
export {
  deleteOrphanEmbeddings,
  EMBEDDING_CHANNEL,
  type EmbeddedText,
  findEmbeddingDimensions,
  listEmbeddedKeys,
  listRowEmbeddings,
  listRowEmbeddingsOf,
  type StoredRowEmbedding,
  saveRowEmbeddings,
  takeEmbeddingTurn,
} from './row-embedding.js';
export type { Database } from './schema.js';
export { openStore, type Store, type StoreOptions } from './store.js';
