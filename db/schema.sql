-- The schema as all migrations leave it, in one file to read. Equal to the migrations by test: when a migration is
-- added, change this file in the same commit. Databases are made by the migrations, not from here.
-- The migrator's own two tables (schema_migration, schema_migration_lock) are not part of it.

-- The trigger's argument says why, and what may be done instead.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% on % is refused: %', tg_op, tg_table_name, tg_argv[0]
    using errcode = 'insufficient_privilege';
end
$$;

-- Capabilities -------------------------------------------------------------------------------------------------

create table directory (
  key text collate "C" primary key check (key ~ '^[A-Z_][A-Z0-9_]{0,63}$'),
  type text not null check (type in ('fn', 'http', 'agent', 'flow')),
  target text not null default '',
  auth text,
  content text not null default '',
  category text not null default '',
  allowed_categories text[] not null default '{}',
  seq integer not null default 0,
  enabled boolean not null default true,
  planner_visible boolean not null default true,
  planner_rank integer not null default 100,
  input_schema jsonb check (jsonb_typeof(input_schema) = 'object'),
  examples jsonb not null default '[]' check (jsonb_typeof(examples) = 'array'),
  sensitive boolean not null default false,
  runner text,
  includes text[] not null default '{}',
  effect text check (effect in ('read', 'write', 'destructive')),
  pinned_for text[] not null default '{}',
  demoted boolean not null default false,
  headers jsonb check (jsonb_typeof(headers) = 'object'),
  limits jsonb check (jsonb_typeof(limits) = 'object'),
  source text not null default 'manual',
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- What the writer computed over the defining columns; null after a change in plain SQL, and then computed on load.
  fingerprint text
);

create index directory_source on directory (source);

create table directory_version (
  key text collate "C" not null,
  version integer not null,
  deleted boolean not null default false,
  -- The whole row as it stood; for a deletion, the row that was deleted.
  row jsonb not null,
  fingerprint text,
  actor text not null,
  reason text,
  at timestamptz not null default now(),
  primary key (key, version)
);

create trigger directory_version_append_only before update or delete or truncate on directory_version
  for each statement execute function refuse_change('the table is append-only');
alter table directory_version enable always trigger directory_version_append_only;

-- Ledger -------------------------------------------------------------------------------------------------------

create table receipt (
  id text collate "C" primary key,
  trace text collate "C" not null,
  parent text collate "C",
  step integer,
  key text collate "C" not null,
  type text check (type in ('fn', 'http', 'agent', 'flow')),
  row_version integer,
  lane text,
  actor text not null,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  outcome text not null check (outcome in ('succeeded', 'failed', 'denied', 'timed_out', 'cancelled', 'interrupted')),
  status text not null check (status in ('PROVEN_MATERIAL_RESULT', 'PROVEN_ATTEMPT_NO_MATERIAL_RESULT')),
  material boolean not null,
  input_hash text not null,
  output_hash text,
  contract_fingerprint text,
  error text,
  error_message text,
  tokens_in integer not null,
  tokens_out integer not null,
  tokens_cached integer not null,
  cost_usd numeric(12, 6) not null,
  replay_of text collate "C",
  repairs text collate "C",
  on_behalf_of text,
  reason text,
  traceparent text,
  check (finished_at >= started_at),
  check (material = (status = 'PROVEN_MATERIAL_RESULT'))
);

-- Ids are time-ordered, so (column, id) serves both the filter and "newest first".
create index receipt_trace on receipt (trace);
create index receipt_key on receipt (key, id);
create index receipt_actor on receipt (actor, id) where actor <> 'owner';
create index receipt_outcome on receipt (outcome, id) where outcome <> 'succeeded';
create index receipt_waste on receipt (id) where not material and (tokens_in + tokens_out > 0 or cost_usd > 0);
create index receipt_replay_of on receipt (replay_of) where replay_of is not null;
create index receipt_repairs on receipt (repairs) where repairs is not null;

create trigger receipt_append_only before update or delete or truncate on receipt
  for each statement execute function refuse_change('the table is append-only');
alter table receipt enable always trigger receipt_append_only;

-- JSON texts, kept to the byte so that the hashes of the receipt can be computed again. Not jsonb, which would
-- reorder them and refuse \u0000. No foreign key: it is written in the receipt's own statement, and expires alone.
create table receipt_payload (
  receipt_id text collate "C" primary key,
  request text not null,
  request_redacted boolean not null,
  result text,
  result_redacted boolean not null,
  upstream text,
  created_at timestamptz not null default now()
);

-- A payload may go, at the end of its retention; it may never say something else.
create trigger receipt_payload_no_update before update on receipt_payload
  for each statement execute function refuse_change('a payload may be deleted, not changed');
alter table receipt_payload enable always trigger receipt_payload_no_update;

create index receipt_payload_created_at on receipt_payload using brin (created_at);

create table event (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  kind text not null,
  actor text not null,
  key text collate "C",
  reason text,
  detail jsonb not null default '{}'
);

create index event_key on event (key, id) where key is not null;
create index event_kind on event (kind, id);
create index event_actor on event (actor, id);

create trigger event_append_only before update or delete or truncate on event
  for each statement execute function refuse_change('the table is append-only');
alter table event enable always trigger event_append_only;

-- Once per statement, and once per transaction: equal notifications of one transaction are one.
create function event_announce() returns trigger language plpgsql as $$
begin
  perform pg_notify('rowcall_event', '');
  return null;
end
$$;

create trigger event_announce after insert on event for each statement execute function event_announce();
alter table event enable always trigger event_announce;

create function receipt_deny() returns trigger language plpgsql as $$
begin
  insert into event (kind, actor, key, reason, detail)
  values ('DENY', new.actor, new.key, new.error, jsonb_build_object('receipt', new.id, 'trace', new.trace));
  return null;
end
$$;

-- The condition is looked at before anything is queued: receipts of calls that ran cost nothing.
create trigger receipt_deny after insert on receipt
  for each row when (new.outcome = 'denied') execute function receipt_deny();
alter table receipt enable always trigger receipt_deny;

-- Directory: versions, history, events, notifications ------------------------------------------------------------

-- A key's versions go up for ever, through deletion and re-creation, so that no process can take old for new.
create function directory_stamp() returns trigger language plpgsql as $$
declare
  given_fingerprint text;
begin
  if tg_op = 'INSERT' then
    new.version := coalesce((select max(version) from directory_version where key = new.key), 0) + 1;
    new.created_at := now();
    new.updated_at := now();
    return new;
  end if;
  if new.key <> old.key then
    raise exception 'the key of a row cannot change: insert % and delete %', new.key, old.key
      using errcode = 'restrict_violation';
  end if;
  new.version := old.version;
  new.created_at := old.created_at;
  new.updated_at := old.updated_at;
  -- A fingerprint alone is no change.
  given_fingerprint := new.fingerprint;
  new.fingerprint := old.fingerprint;
  if new is not distinct from old then
    return null;
  end if;
  new.fingerprint := given_fingerprint;
  -- Plain SQL computes no fingerprint: where it changes what defines the call, the old one is void.
  if coalesce(current_setting('rowcall.actor', true), '') = ''
    and given_fingerprint is not distinct from old.fingerprint
    and (new.type, new.target, new.auth, new.content, new.input_schema, new.sensitive, new.runner, new.includes,
         new.effect, new.headers, new.limits)
      is distinct from
        (old.type, old.target, old.auth, old.content, old.input_schema, old.sensitive, old.runner, old.includes,
         old.effect, old.headers, old.limits)
  then
    new.fingerprint := null;
  end if;
  new.version := old.version + 1;
  new.updated_at := now();
  return new;
end
$$;

create trigger directory_stamp before insert or update on directory
  for each row execute function directory_stamp();
alter table directory enable always trigger directory_stamp;

create function directory_record() returns trigger language plpgsql as $$
declare
  subject directory := coalesce(new, old);
  this_version integer := case when tg_op = 'DELETE' then old.version + 1 else new.version end;
  this_actor text := coalesce(nullif(current_setting('rowcall.actor', true), ''), 'sql:' || session_user);
  this_reason text := nullif(current_setting('rowcall.reason', true), '');
begin
  insert into directory_version (key, version, deleted, row, fingerprint, actor, reason)
  values (subject.key, this_version, tg_op = 'DELETE', to_jsonb(subject) - 'fingerprint', subject.fingerprint,
          this_actor, this_reason);
  insert into event (kind, actor, key, reason, detail)
  values ('DIRECTORY_MUTATE', this_actor, subject.key, this_reason,
          jsonb_build_object('action', lower(tg_op), 'version', this_version));
  perform pg_notify('rowcall_directory', subject.key || ' ' || this_version);
  return null;
end
$$;

create trigger directory_record after insert or update or delete on directory
  for each row execute function directory_record();
alter table directory enable always trigger directory_record;

-- TRUNCATE would pass by the row triggers, and history and every process's memory with them.
create trigger directory_no_truncate before truncate on directory
  for each statement execute function refuse_change('delete its rows, so that their history is kept');
alter table directory enable always trigger directory_no_truncate;

-- Runners and their queue --------------------------------------------------------------------------------------

create table runner (
  id text primary key,
  lanes text[] not null,
  concurrency integer not null check (concurrency > 0),
  host text not null,
  pid integer not null,
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now(),
  -- Since when its heartbeats have come without a gap. After an outage of the database everybody's heartbeat is old:
  -- only a runner that has been beating for a while may judge that another is dead.
  beating_since timestamptz not null default now()
);

-- One row is one call that waits or runs; its end deletes it and writes the receipt, in one statement.
-- The lease holds as long as its runner's heartbeat: one update per runner keeps all its leases alive.
create table job (
  id text collate "C" primary key,
  lane text not null,
  priority integer not null default 0,
  effect text not null check (effect in ('read', 'write', 'destructive')),
  call text not null,
  created_at timestamptz not null default now(),
  attempts integer not null default 0,
  lease_owner text,
  leased_at timestamptz
);

create index job_ready on job (lane, priority desc, id) where lease_owner is null;
create index job_leased on job (lease_owner) where lease_owner is not null;
-- Emptied and refilled all day: vacuum early, and leave room for updates that touch no index.
alter table job set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, fillfactor = 70);

-- Tokens of oauth: rows ------------------------------------------------------------------------------------------

-- One row per label and configuration: what was got with another client, scope or address is never used.
create table oauth_token (
  -- The label as it begins the names of its environment variables.
  label text collate "C" not null,
  config_hash text collate "C" not null check (config_hash ~ '^[0-9a-f]{64}$'),
  -- AES-256-GCM under ROWCALL_SECRET_KEY; null until the first token is there.
  sealed bytea,
  -- End of the access token by the clock of this database; null when the provider named none.
  expires_at timestamptz,
  -- Goes up with every token stored: who read an older one cannot overwrite a newer one.
  generation bigint not null default 0,
  -- Who asks the provider now. A lease that is over counts as none.
  lease_owner text,
  lease_until timestamptz,
  updated_at timestamptz not null default now(),
  primary key (label, config_hash),
  check ((sealed is null) = (generation = 0)),
  check ((lease_owner is null) = (lease_until is null))
);
