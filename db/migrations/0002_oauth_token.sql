-- Tokens of rows that prove who they are by `oauth:LABEL`: what a provider issued is shared by all processes, and a
-- refresh token that was replaced (RFC 6749 section 6) outlives the process that got it.

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
