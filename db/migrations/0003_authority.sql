-- Authority and proof: grants and what is used up of them, calls that were opened and may have fired, calls that wait
-- for a person, and the answers that a repeated request gets again.

-- API processes hold opened calls as runners hold jobs, and are alive as long as they beat. In the place of `runner`:
-- what lives registers again when it starts.
drop table runner;
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

-- Committed before a call fires that must not fire twice, and deleted by the statement that writes its receipt, queues
-- it or parks it: whoever deletes it has the call. When its process dies or has lost it, it becomes the receipt that
-- stands here, `interrupted`. A process that was declared dead can open nothing until it has registered anew.
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
