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

/** `runner`: a runner process that is alive as long as its heartbeat is young. */
export interface RunnerTable {
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

/** Every table, for Kysely. */
export interface Database {
  directory: DirectoryTable;
  directory_version: DirectoryVersionTable;
  receipt: ReceiptTable;
  receipt_payload: ReceiptPayloadTable;
  event: EventTable;
  runner: RunnerTable;
  job: JobTable;
  oauth_token: OauthTokenTable;
}
