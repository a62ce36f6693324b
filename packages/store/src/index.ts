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
export { insertEvent, type NewEvent } from './event.js';
export { type Failures, Gather, type GatherOptions, NO_FAILURES } from './gather.js';
export {
  type ClaimedJob,
  COMPLETE_BATCH_MAX,
  claimJobs,
  completeJobs,
  DONE_CHANNEL,
  findJobState,
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
export { expirePayloads } from './payload-expiry.js';
export { isTransient, openPool, type PoolOptions } from './pool.js';
export { findReceipt, findReceiptPayload, insertReceipts, listEndedCalls, listTrace } from './receipt.js';
export { type LaterCall, listLaterCalls } from './receipt-lineage.js';
export { listReceipts, type ReceiptQuestion } from './receipt-list.js';
export {
  deleteRunner,
  drainRunner,
  HEARTBEAT_EVERY_MS,
  HEARTBEAT_MAX_AGE_MS,
  hasLiveRunner,
  insertRunner,
  listLiveLanes,
  type NewRunner,
  RUNNER_CHANNEL,
  updateHeartbeat,
} from './runner.js';
export type { Database } from './schema.js';
export { openStore, type Store, type StoreOptions } from './store.js';
