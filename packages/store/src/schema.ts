import type { JsonValue, Receipt, Row } from '@rowcall/protocol';
import type { ColumnType, Generated, JSONColumnType } from 'kysely';

type Timestamp = ColumnType<Date, Date | string | undefined, Date | string>;
type Json = JSONColumnType<object>;

/** `directory`: one row is one capability. Versions and history are the work of its triggers. */
export interface DirectoryTable
  extends Omit<Row, 'input_schema' | 'examples' | 'headers' | 'limits' | 'version' | 'created_at' | 'updated_at'> {
  input_schema: Json | null;
  examples: Json;
  headers: Json | null;
  limits: Json | null;
  version: Generated<number>;
  created_at: Timestamp;
  updated_at: Timestamp;
  fingerprint: string | null;
}

/** `directory_version`: every version of every row, deletions included. Append-only. */
export interface DirectoryVersionTable {
  key: string;
  version: number;
  deleted: boolean;
  row: Json;
  fingerprint: string | null;
  actor: string;
  reason: string | null;
  at: Timestamp;
}

/** `receipt`: one attempt to run a row. Append-only. */
export interface ReceiptTable extends Omit<Receipt, 'started_at' | 'finished_at' | 'cost_usd'> {
  started_at: Timestamp;
  finished_at: Timestamp;
  cost_usd: string;
}

/** `receipt_payload`: JSON texts of what went in and came out, redacted; expires apart from the receipt. */
export interface ReceiptPayloadTable {
  receipt_id: string;
  request: string;
  request_redacted: boolean;
  result: string | null;
  result_redacted: boolean;
  upstream: string | null;
  created_at: Timestamp;
}

/** `event`: what happened to the deployment. Append-only. */
export interface EventTable {
  id: Generated<string>;
  at: Timestamp;
  kind: string;
  actor: string;
  key: string | null;
  reason: string | null;
  detail: ColumnType<Record<string, JsonValue>, string, never>;
}

/** `process`: an API or runner process that is alive as long as its heartbeat is young. */
export interface ProcessTable {
  id: string;
  lanes: string[];
  concurrency: number;
  host: string;
  pid: number;
  started_at: Timestamp;
  heartbeat_at: Timestamp;
  beating_since: Timestamp;
}

/** `job`: a call that waits for a runner or runs there. */
export interface JobTable {
  id: string;
  lane: string;
  priority: Generated<number>;
  effect: string;
  call: string;
  created_at: Timestamp;
  attempts: Generated<number>;
  lease_owner: string | null;
  leased_at: Timestamp | null;
}

/** `oauth_token`: what a provider issued for a label, sealed, and who renews it now. */
export interface OauthTokenTable {
  label: string;
  config_hash: string;
  sealed: Buffer | null;
  expires_at: Timestamp | null;
  generation: Generated<string>;
  lease_owner: string | null;
  lease_until: Timestamp | null;
  updated_at: Timestamp;
}

/** `capability_grant`: what a token allows, and how much of it is used up. */
export interface CapabilityGrantTable {
  fingerprint: string;
  token_hash: string;
  parent: string | null;
  depth: number;
  terms: Json;
  purpose: string;
  actor: string | null;
  created_by: string;
  created_at: Timestamp;
  expires_at: Timestamp;
  revoked_at: Timestamp | null;
  max_uses: ColumnType<string | null, never, never>;
  rate_per_minute: ColumnType<number | null, never, never>;
  budget_usd: ColumnType<string | null, never, never>;
  uses: Generated<string>;
  spent_usd: Generated<string>;
  window_at: Timestamp | null;
  window_calls: Generated<number>;
}

/** `opened`: a call that may have fired and has no receipt yet. */
export interface OpenedTable {
  id: string;
  /** Null when the process died. */
  process: string | null;
  receipt: Json;
  request: string;
  request_redacted: boolean;
  at: Timestamp;
}

/** `approval`: a call that waits, or waited, for a person. */
export interface ApprovalTable {
  id: string;
  trace: string;
  key: string;
  actor: string;
  origin: string;
  effect: string;
  input_hash: string;
  contract_fingerprint: string;
  request: string;
  request_redacted: boolean;
  call: string | null;
  reason: string | null;
  on_behalf_of: string | null;
  requested_at: Timestamp;
  expires_at: Timestamp;
  state: Generated<'waiting' | 'approved' | 'denied' | 'expired'>;
  decided_at: Timestamp | null;
  decided_by: string | null;
  decision_reason: string | null;
}

/** `idempotency`: which call a caller's Idempotency-Key stands for, and its answer, sealed. */
export interface IdempotencyTable {
  actor: string;
  key_hash: string;
  request_hash: string;
  invocation_id: string;
  answer: Buffer | null;
  created_at: Timestamp;
}

/** `row_embedding`: the vector of a row's searchable text, a signed byte for each dimension. */
export interface RowEmbeddingTable {
  key: string;
  model: string;
  text_sha256: string;
  dimensions: number;
  scale: number;
  vector: Buffer;
  updated_at: Timestamp;
}

/** `ask`: a question, what it was answered, and what was read of that. */
export interface AskTable {
  id: string;
  at: Timestamp;
  actor: string;
  question: string;
  keys: string[];
  best: string | null;
  answered: ColumnType<boolean, never, never>;
  confidence: number;
  category: string | null;
  times: Generated<number>;
  read_keys: Generated<string[]>;
}

/** Every table, for Kysely. */
export interface Database {
  directory: DirectoryTable;
  directory_version: DirectoryVersionTable;
  receipt: ReceiptTable;
  receipt_payload: ReceiptPayloadTable;
  event: EventTable;
  process: ProcessTable;
  job: JobTable;
  oauth_token: OauthTokenTable;
  capability_grant: CapabilityGrantTable;
  opened: OpenedTable;
  approval: ApprovalTable;
  idempotency: IdempotencyTable;
  row_embedding: RowEmbeddingTable;
  ask: AskTable;
}
