-- Events can be followed live: a notification wakes whoever follows them, and every denial on the ledger is an event,
-- whoever writes it.

create index event_actor on event (actor, id);

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
