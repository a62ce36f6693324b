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
  -- The ask that the call followed, as its caller named it.
  ask_id text collate "C",
  check (finished_at >= started_at),
  check (material = (status = 'PROVEN_MATERIAL_RESULT'))
);

-- Ids are time-ordered, so (column, id) serves both the filter and "newest first". A miss did not succeed, or gave
-- nothing usable. `material` is in front for the order alone: with the id by itself, the primary key would have the same.
create index receipt_trace on receipt (trace);
create index receipt_key on receipt (key, id);
create index receipt_key_miss on receipt (key, id) where outcome <> 'succeeded' or not material;
create index receipt_actor on receipt (actor, id);
create index receipt_actor_miss on receipt (actor, id) where outcome <> 'succeeded' or not material;
create index receipt_outcome on receipt (outcome, id) where outcome <> 'succeeded';
create index receipt_immaterial on receipt (material, id) where not material;
create index receipt_waste on receipt (material, id)
  where not material and (tokens_in + tokens_out > 0 or cost_usd > 0);
create index receipt_replay_of on receipt (replay_of, id) where replay_of is not null;
create index receipt_repairs on receipt (repairs, id) where repairs is not null;
create index receipt_ask on receipt (ask_id, id) where ask_id is not null;

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

create table process (
  id text primary key,
  lanes text[] not null,
  concurrency integer not null check (concurrency >= 0),
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

-- Vectors of rows ------------------------------------------------------------------------------------------------

-- What a row's searchable text means, as the embeddings service of the operator put it into numbers. A vector belongs to
-- a text and not to a row: a row that is deleted and made anew with the same text finds its vector again, and one whose
-- text changed is not ranked by the old one.
create table row_embedding (
  -- No reference: what no row has any more is cleared away later.
  key text collate "C" primary key check (key ~ '^[A-Z_][A-Z0-9_]{0,63}$'),
  -- The model, and `#` with the number of dimensions where one is asked of it: vectors of two models do not compare.
  model text not null check (char_length(model) between 1 and 210),
  text_sha256 text collate "C" not null check (text_sha256 ~ '^[0-9a-f]{64}$'),
  dimensions integer not null check (dimensions between 1 and 4096),
  -- What one step of a byte is worth: the vector of unit length is the signed bytes times this.
  scale real not null check (scale > 0 and scale <= 1),
  vector bytea not null check (octet_length(vector) = dimensions),
  updated_at timestamptz not null default now()
);

-- Signed bytes of a vector do not compress: nobody is to try.
alter table row_embedding alter column vector set storage external;

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

-- Grants -------------------------------------------------------------------------------------------------------

create table capability_grant (
  fingerprint text collate "C" primary key check (fingerprint ~ '^cap_[0-9a-f]{32}$'),
  -- SHA-256 of the token: the token itself is shown once and kept nowhere.
  token_hash text collate "C" not null unique check (token_hash ~ '^[0-9a-f]{64}$'),
  parent text collate "C" references capability_grant (fingerprint),
  depth integer not null check (depth between 0 and 5),
  terms jsonb not null check (jsonb_typeof(terms) = 'object'),
  purpose text not null,
  -- Whom it was made for, in the words of who made it.
  actor text,
  created_by text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null check (expires_at > created_at),
  revoked_at timestamptz,
  -- Its limits; null for none.
  max_uses bigint generated always as (nullif((terms ->> 'max_uses')::bigint, 0)) stored,
  rate_per_minute integer generated always as ((terms ->> 'rate_per_minute')::integer) stored,
  budget_usd numeric(14, 6) generated always as ((terms ->> 'budget_usd')::numeric(14, 6)) stored,
  -- What of them is used up, by its own calls and by those of the grants made from it.
  uses bigint not null default 0,
  spent_usd numeric(14, 6) not null default 0,
  window_at timestamptz,
  window_calls integer not null default 0,
  check ((parent is null) = (depth = 0))
);

create index capability_grant_parent on capability_grant (parent) where parent is not null;
create index capability_grant_created on capability_grant (created_at, fingerprint);
alter table capability_grant set (fillfactor = 70);

-- What a grant allows never changes; only what is left of it, and whether it still holds, does.
create function capability_grant_guard() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'a grant is revoked, not deleted: its receipts name it' using errcode = 'insufficient_privilege';
  end if;
  if (new.fingerprint, new.token_hash, new.parent, new.depth, new.terms, new.expires_at)
    is distinct from (old.fingerprint, old.token_hash, old.parent, old.depth, old.terms, old.expires_at)
    or (old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at)
  then
    raise exception 'a grant cannot change: mint another, and revoke this one'
      using errcode = 'insufficient_privilege';
  end if;
  if new.revoked_at is distinct from old.revoked_at then
    perform pg_notify('rowcall_grant', new.fingerprint);
  end if;
  return new;
end
$$;

create trigger capability_grant_guard before update or delete on capability_grant
  for each row execute function capability_grant_guard();
alter table capability_grant enable always trigger capability_grant_guard;

-- Calls that were opened ------------------------------------------------------------------------------------------

-- Committed before a call fires that must not fire twice, and deleted by the statement that writes its receipt. When
-- its process dies, it becomes the receipt that stands here, `interrupted`. A process that was declared dead can open
-- nothing until it has registered anew.
create table opened (
  id text collate "C" primary key,
  process text references process (id) on delete set null,
  receipt json not null,
  request text not null,
  request_redacted boolean not null,
  at timestamptz not null default now()
);

create index opened_process on opened (process);
create index opened_orphan on opened (id) where process is null;
alter table opened set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Calls that wait for a person --------------------------------------------------------------------------------------

create table approval (
  -- The id of the receipt that the call will leave.
  id text collate "C" primary key,
  trace text collate "C" not null,
  key text collate "C" not null,
  actor text not null,
  -- The owner's grant that the caller's derives from: all that do share what may wait.
  origin text collate "C" not null,
  effect text not null check (effect in ('read', 'write', 'destructive')),
  input_hash text not null,
  contract_fingerprint text not null,
  -- What is shown of the call, redacted; the call itself, until it is decided.
  request text not null,
  request_redacted boolean not null,
  call text,
  reason text,
  on_behalf_of text,
  requested_at timestamptz not null default now(),
  expires_at timestamptz not null,
  state text not null default 'waiting' check (state in ('waiting', 'approved', 'denied', 'expired')),
  decided_at timestamptz,
  decided_by text,
  decision_reason text,
  check ((state = 'waiting') = (decided_at is null)),
  check ((state = 'waiting') = (call is not null))
);

create index approval_waiting on approval (expires_at) where state = 'waiting';
create index approval_origin_waiting on approval (origin) where state = 'waiting';

-- Repeated requests ---------------------------------------------------------------------------------------------------

create table idempotency (
  actor text collate "C" not null,
  -- SHA-256 of the Idempotency-Key, and of the request that it came with.
  key_hash text collate "C" not null check (key_hash ~ '^[0-9a-f]{64}$'),
  request_hash text collate "C" not null check (request_hash ~ '^[0-9a-f]{64}$'),
  invocation_id text collate "C" not null,
  -- The first answer, encrypted under a key that the Idempotency-Key is part of; null until there is one.
  answer bytea,
  created_at timestamptz not null default now(),
  primary key (actor, key_hash)
);

create index idempotency_created_at on idempotency (created_at);
create index idempotency_invocation_id on idempotency (invocation_id);

-- Begins calls, all in one round trip and one commit: claims their idempotency keys, takes what they use of their
-- grants, opens them. A call that may not begin changes nothing. `calls` is a JSON array of
--   {id, chain: [fingerprint, …], price, idempotency: {actor, key_hash, request_hash} or null,
--    opened: {process, receipt, request, request_redacted} or null}
-- and each is answered `begun`, `repeated` (another call has the key), or by the code of its refusal. Grants, and then
-- keys, are locked in one order whatever the order of the calls, so that no two processes wait for each other.
create function begin_calls(calls jsonb)
returns table (call_id text, verdict text, retry_after integer) language plpgsql as $$
declare
  call jsonb;
  links text[];
  price numeric;
begin
  perform from capability_grant
  where fingerprint in (select jsonb_array_elements_text(c -> 'chain') from jsonb_array_elements(calls) as c)
  order by fingerprint for no key update;

  for call in
    select c from jsonb_array_elements(calls) with ordinality as list (c, number)
    order by c #>> '{idempotency,actor}', c #>> '{idempotency,key_hash}', number
  loop
    call_id := call ->> 'id';
    links := array(select jsonb_array_elements_text(call -> 'chain'));
    price := (call ->> 'price')::numeric;
    verdict := 'begun';
    retry_after := null;

    if call -> 'idempotency' <> 'null' then
      insert into idempotency (actor, key_hash, request_hash, invocation_id)
      values (call #>> '{idempotency,actor}', call #>> '{idempotency,key_hash}', call #>> '{idempotency,request_hash}',
              call_id)
      on conflict do nothing;
      if not found then
        verdict := 'repeated';
        return next;
        continue;
      end if;
    end if;

    select
      case
        when bool_or(expires_at <= now()) then 'expired'
        when bool_or(revoked_at is not null) then 'revoked'
        when bool_or(window_at > now() - interval '1 minute' and window_calls >= rate_per_minute) then 'rate_limited'
        when bool_or(spent_usd >= budget_usd or spent_usd + price > budget_usd) then 'budget_exhausted'
        when bool_or(uses >= max_uses) then 'token_exhausted'
        else 'begun'
      end,
      max(ceil(extract(epoch from window_at + interval '1 minute' - now())))
        filter (where window_calls >= rate_per_minute)
    into verdict, retry_after
    from capability_grant where fingerprint = any (links);

    if verdict <> 'begun' then
      delete from idempotency
      where actor = call #>> '{idempotency,actor}' and key_hash = call #>> '{idempotency,key_hash}';
      return next;
      continue;
    end if;
    retry_after := null;

    update capability_grant set
      uses = uses + 1,
      spent_usd = spent_usd + price,
      window_calls = case when window_at > now() - interval '1 minute' then window_calls + 1 else 1 end,
      window_at = case when window_at > now() - interval '1 minute' then window_at else now() end
    where fingerprint = any (links) and coalesce(max_uses, rate_per_minute, budget_usd) is not null;

    insert into opened (id, process, receipt, request, request_redacted)
    select call_id, o ->> 'process', (o -> 'receipt')::json, o ->> 'request', (o ->> 'request_redacted')::boolean
    from (select call -> 'opened' as o) as part where o <> 'null';
    return next;
  end loop;
end
$$;

-- Asks ---------------------------------------------------------------------------------------------------------

-- What was asked for, what was answered, and the calls that followed (receipt.ask_id). A log with a retention, not part
-- of the ledger: rows may change and go.
create table ask (
  -- Time-ordered and unguessable, as the ids of receipts are.
  id text collate "C" primary key,
  at timestamptz not null,
  -- As receipts name who calls; `anyone` for who presented no credential.
  actor text not null,
  -- Redacted, and cut.
  question text not null check (char_length(question) <= 500),
  -- What was answered, the best first.
  keys text[] collate "C" not null check (cardinality(keys) <= 12),
  best text collate "C",
  answered boolean not null generated always as (best is not null) stored,
  confidence real not null,
  -- Of the best row; null where nothing fitted.
  category text,
  -- How often the same caller asked the same within a minute.
  times integer not null default 1 check (times > 0),
  -- Those of `keys` whose contracts were read in the name of this ask.
  read_keys text[] collate "C" not null default '{}'
);

create index ask_answered on ask (answered, id);
-- Counters and reads change rows without touching an index: leave room on their pages.
alter table ask set (fillfactor = 90);
