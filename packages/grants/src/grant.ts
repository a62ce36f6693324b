import type { Effect, GrantTerms, Risk } from '@rowcall/protocol';

/** A capability token's grant: bounded authority over rows. The token itself is nowhere kept. */
export interface Grant {
  /** `cap_…`, its public name. */
  readonly fingerprint: string;
  /** Fingerprint of the grant that it was derived from; null for one of the owner's. */
  readonly parent: string | null;
  /** Derivations since the owner's grant: 0 for the owner's own. */
  readonly depth: number;
  readonly purpose: string;
  /** Who holds the token, for people to read; decides nothing. */
  readonly actor: string | null;
  /** Milliseconds since 1970. */
  readonly created_at: number;
  /** Milliseconds since 1970; at this time it no longer holds. */
  readonly expires_at: number;
  /** Milliseconds since 1970; null while it is not. */
  readonly revoked_at: number | null;
  readonly terms: GrantTerms;
}

/** A grant with those that it derives from, the owner's first. The empty chain is the owner, whose authority is whole. */
export type Chain = readonly Grant[];

/** What the gate knows of a row. */
export interface RowFacts {
  readonly key: string;
  readonly category: string;
  readonly enabled: boolean;
  readonly effect: Effect;
  readonly risk: Risk;
  /** US dollars that a call takes from a budget. */
  readonly price: number;
  /** Contract fingerprint, as it is now. Read only where it matters. */
  readonly fingerprint: string;
}

/** The rows there are. */
export interface Rows {
  find(key: string): RowFacts | undefined;
  /** All of them, disabled ones included, in any order. */
  list(): Iterable<RowFacts>;
}
