-- Reading the ledger: indexes for every filter of GET /api/invocations, so that a page costs the same at ten million
-- receipts as at ten. All begin with what is asked for and end with the id, by which pages go on (packages/store:
-- receipt-filter.ts says which index serves which filter, receipt-walk.ts why it is compared in pairs).
--
-- What an index costs, every receipt pays. One that succeeded goes into four (id, trace, key, actor), as one of a grant
-- did before; the others are partial and hold the few that did not go well. Measured in batches of 20, Postgres takes
-- 122 µs of CPU for a receipt of the owner instead of 111, and 128 instead of 123 for one of a grant, of which one in
-- fourteen failed. Combinations that have no index, such as an actor and a key, walk the shorter of the two, and a page
-- ends after 1,000 receipts whatever it found.
--
-- Not partitioned. Receipts are never deleted, so there is no old partition to drop, which is what partitions are best
-- at. Ids are time-ordered: inserts touch the right edge of each value, and those pages stay in memory however long the
-- table gets. Measured (`pnpm bench ledger`), calls on ten million receipts (4.5 GB, and 4.3 GB of indexes) are as many
-- per second as on an empty ledger, for the same CPU. `on conflict (id)` would hold with ranges of ids alone; but each
-- partition needs the append-only triggers anew, could be detached with its receipts, and a key or an actor that is
-- seldom met would be looked for in all of them.
--
-- Made in the migration's transaction: until it ends, the ledger can neither be read nor written.

-- The owner's receipts, too: one of many actors, and on a busy deployment not the most frequent one.
drop index receipt_actor;
create index receipt_actor on receipt (actor, id);

-- A miss: it did not succeed, or gave nothing usable.
create index receipt_key_miss on receipt (key, id) where outcome <> 'succeeded' or not material;
create index receipt_actor_miss on receipt (actor, id) where outcome <> 'succeeded' or not material;

-- `material` is in front for the order alone: with the id by itself, the primary key would have the same.
create index receipt_immaterial on receipt (material, id) where not material;
drop index receipt_waste;
create index receipt_waste on receipt (material, id)
  where not material and (tokens_in + tokens_out > 0 or cost_usd > 0);

-- With the id, so that the newest of many replays are found without the others.
drop index receipt_replay_of;
create index receipt_replay_of on receipt (replay_of, id) where replay_of is not null;
drop index receipt_repairs;
create index receipt_repairs on receipt (repairs, id) where repairs is not null;

-- Payloads expire in the order of their ids, by the primary key.
drop index receipt_payload_created_at;
