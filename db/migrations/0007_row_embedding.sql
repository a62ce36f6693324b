-- Rows can be found by what they mean: their vectors are computed once, by a runner, and shared by all processes.

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
