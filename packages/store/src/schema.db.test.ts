import { readFile } from 'node:fs/promises';
import { emptyDatabase, type TestStore, testStore } from '@rowcall/testing';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from './schema.js';
import { openClient } from './testing/clients.js';

/** What a schema is, told by the catalog: one query per kind, ordered, without oids. */
const INTROSPECTION = {
  tables: `
    select relname, relkind, relpersistence, reloptions, relrowsecurity from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'v', 'm', 'S', 'p')
      and relname !~ '^schema_migration' order by relname`,
  columns: `
    select relname, attnum, attname, format_type(atttypid, atttypmod) as type, attnotnull, attidentity, attgenerated,
      collname, pg_get_expr(adbin, adrelid) as default
    from pg_attribute join pg_class on pg_class.oid = attrelid
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
    left join pg_collation on pg_collation.oid = attcollation
    where relnamespace = 'public'::regnamespace and relkind = 'r' and attnum > 0 and not attisdropped
      and relname !~ '^schema_migration' order by relname, attnum`,
  constraints: `
    select conrelid::regclass::text as table, conname, pg_get_constraintdef(oid) as definition from pg_constraint
    where connamespace = 'public'::regnamespace and conrelid::regclass::text !~ '^schema_migration'
    order by 1, conname`,
  indexes: `
    select pg_get_indexdef(indexrelid) as definition from pg_index join pg_class on pg_class.oid = indrelid
    where relnamespace = 'public'::regnamespace and relname !~ '^schema_migration' order by 1`,
  functions: `
    select pg_get_functiondef(oid) as definition from pg_proc where pronamespace = 'public'::regnamespace order by 1`,
  triggers: `
    select pg_get_triggerdef(pg_trigger.oid) as definition, tgenabled from pg_trigger
    join pg_class on pg_class.oid = tgrelid
    where relnamespace = 'public'::regnamespace and not tgisinternal order by 1`,
};

type Schema = Record<keyof typeof INTROSPECTION, Record<string, unknown>[]>;

async function introspect(client: pg.Client): Promise<Schema> {
  const schema: Partial<Schema> = {};
  for (const [kind, query] of Object.entries(INTROSPECTION)) {
    const { rows } = await client.query<Record<string, unknown>>(query);
    schema[kind as keyof Schema] = rows;
  }
  return schema as Schema;
}

/** Every table and column that the code knows. The type makes the list complete; the test makes it true. */
const KNOWN_COLUMNS: { [Table in keyof Database]: Record<keyof Database[Table], true> } = {
  directory: {
    key: true,
    type: true,
    target: true,
    auth: true,
    content: true,
    category: true,
    allowed_categories: true,
    seq: true,
    enabled: true,
    planner_visible: true,
    planner_rank: true,
    input_schema: true,
    examples: true,
    sensitive: true,
    runner: true,
    includes: true,
    effect: true,
    pinned_for: true,
    demoted: true,
    headers: true,
    limits: true,
    source: true,
    version: true,
    created_at: true,
    updated_at: true,
    fingerprint: true,
  },
  directory_version: {
    key: true,
    version: true,
    deleted: true,
    row: true,
    fingerprint: true,
    actor: true,
    reason: true,
    at: true,
  },
  receipt: {
    id: true,
    trace: true,
    parent: true,
    step: true,
    key: true,
    type: true,
    row_version: true,
    lane: true,
    actor: true,
    started_at: true,
    finished_at: true,
    outcome: true,
    status: true,
    material: true,
    input_hash: true,
    output_hash: true,
    contract_fingerprint: true,
    error: true,
    error_message: true,
    tokens_in: true,
    tokens_out: true,
    tokens_cached: true,
    cost_usd: true,
    replay_of: true,
    repairs: true,
    on_behalf_of: true,
    reason: true,
    traceparent: true,
    ask_id: true,
  },
  receipt_payload: {
    receipt_id: true,
    request: true,
    request_redacted: true,
    result: true,
    result_redacted: true,
    upstream: true,
    created_at: true,
  },
  event: { id: true, at: true, kind: true, actor: true, key: true, reason: true, detail: true },
  process: {
    id: true,
    lanes: true,
    concurrency: true,
    host: true,
    pid: true,
    started_at: true,
    heartbeat_at: true,
    beating_since: true,
  },
  job: {
    id: true,
    lane: true,
    priority: true,
    effect: true,
    call: true,
    created_at: true,
    attempts: true,
    lease_owner: true,
    leased_at: true,
  },
  capability_grant: {
    fingerprint: true,
    token_hash: true,
    parent: true,
    depth: true,
    terms: true,
    purpose: true,
    actor: true,
    created_by: true,
    created_at: true,
    expires_at: true,
    revoked_at: true,
    max_uses: true,
    rate_per_minute: true,
    budget_usd: true,
    uses: true,
    spent_usd: true,
    window_at: true,
    window_calls: true,
  },
  opened: { id: true, process: true, receipt: true, request: true, request_redacted: true, at: true },
  approval: {
    id: true,
    trace: true,
    key: true,
    actor: true,
    origin: true,
    effect: true,
    input_hash: true,
    contract_fingerprint: true,
    request: true,
    request_redacted: true,
    call: true,
    reason: true,
    on_behalf_of: true,
    requested_at: true,
    expires_at: true,
    state: true,
    decided_at: true,
    decided_by: true,
    decision_reason: true,
  },
  idempotency: {
    actor: true,
    key_hash: true,
    request_hash: true,
    invocation_id: true,
    answer: true,
    created_at: true,
  },
  row_embedding: {
    key: true,
    model: true,
    text_sha256: true,
    dimensions: true,
    scale: true,
    vector: true,
    updated_at: true,
  },
  ask: {
    id: true,
    at: true,
    actor: true,
    question: true,
    keys: true,
    best: true,
    answered: true,
    confidence: true,
    category: true,
    times: true,
    read_keys: true,
  },
  oauth_token: {
    label: true,
    config_hash: true,
    sealed: true,
    expires_at: true,
    generation: true,
    lease_owner: true,
    lease_until: true,
    updated_at: true,
  },
};

describe('the schema', () => {
  let migrated: TestStore;
  let client: pg.Client;

  beforeAll(async () => {
    migrated = await testStore();
    client = await openClient(migrated.url);
  });

  afterAll(async () => {
    await client.end();
    await migrated.drop();
  });

  test('that the migrations make is the one that schema.sql shows', async () => {
    const plain = await emptyDatabase();
    const other = await openClient(plain.url);
    try {
      await other.query(await readFile(new URL('../../../db/schema.sql', import.meta.url), 'utf8'));
      const shown = await introspect(other);
      const made = await introspect(client);
      for (const kind of Object.keys(INTROSPECTION) as (keyof Schema)[]) {
        expect(made[kind].length, kind).toBeGreaterThan(0);
        expect(shown[kind], kind).toEqual(made[kind]);
      }
    } finally {
      await other.end();
      await plain.drop();
    }
  });

  test('has exactly the tables and columns that the types name', async () => {
    const { columns } = await introspect(client);
    const actual: Record<string, string[]> = {};
    for (const { relname, attname } of columns) {
      const names = actual[String(relname)] ?? [];
      actual[String(relname)] = [...names, String(attname)];
    }
    const known = Object.fromEntries(
      Object.entries(KNOWN_COLUMNS).map(([table, names]) => [table, Object.keys(names).sort()]),
    );
    for (const names of Object.values(actual)) names.sort();
    expect(actual).toEqual(known);
  });
});
