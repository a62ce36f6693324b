-- Asks: what was asked for, what was answered, and the calls that followed, so that a deployment can measure how well it
-- finds. A log with a retention (ROWCALL_ASK_DAYS), not part of the ledger: rows may change and go.

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

-- The ask that a call followed, as its caller named it. A nullable column without a default changes the table's
-- description alone. The index holds the calls that name one: the others do not pay for it.
alter table receipt add column ask_id text collate "C";
create index receipt_ask on receipt (ask_id, id) where ask_id is not null;
