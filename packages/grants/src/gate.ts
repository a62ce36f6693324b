import type { Input } from '@rowcall/receipts';
import { type CallRequest, type Denied, findDenial, toEffectiveInput } from './checks.js';
import type { Chain, RowFacts } from './grant.js';

interface Decided {
  readonly row: RowFacts;
  readonly input: Input;
  readonly grants: readonly string[];
  readonly approved: boolean;
}

const SEAL = Symbol('decided by the gate');
let allow: (decided: Decided) => Allowed;

/**
 * Proof that the gate allowed a call. Only {@link decide} makes one: what fires a row takes it, so that no way to a runner
 * leads past the gate. An object that was made up has no member that can be read.
 */
export class Allowed {
  static {
    allow = (decided) => new Allowed(SEAL, decided);
  }

  /** Tells it from a denial. */
  readonly allowed = true;
  readonly #decided: Decided;

  private constructor(seal: symbol, decided: Decided) {
    if (seal !== SEAL) throw new TypeError('only the gate allows a call');
    this.#decided = decided;
  }

  /** The row that may be called. */
  get key(): string {
    return this.#decided.row.key;
  }

  /** Contract fingerprint of the row that was decided on. */
  get contract(): string {
    return this.#decided.row.fingerprint;
  }

  /** What goes in: the caller's input, or the body that a grant fixes. */
  get input(): Input {
    return this.#decided.input;
  }

  /** Fingerprints of the grants that allowed it, the owner's first; empty for the owner. */
  get grants(): readonly string[] {
    return this.#decided.grants;
  }

  /** True when a person has agreed to exactly this call. */
  get approved(): boolean {
    return this.#decided.approved;
  }
}

/**
 * The gate: decides on a call before any runner is reached. What is counted (rate, budget, uses) is not decided here but
 * taken atomically, where the counters are, after this.
 *
 * `owner_gate_required` comes before what later checks would deny: before a call is put to a person, decide on it again as
 * approved, so that nobody is asked for what cannot be done.
 *
 * @param now milliseconds since 1970
 */
export function decide(chain: Chain, row: RowFacts, request: CallRequest, now: number): Allowed | Denied {
  const input = toEffectiveInput(chain, request.input);
  const denied = findDenial({ chain, row, request, input }, now);
  if (denied !== undefined) return denied;
  const grants = chain.map(({ fingerprint }) => fingerprint);
  return allow({ row, input, grants, approved: request.approved });
}
