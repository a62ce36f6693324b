import { unreachable } from '@rowcall/errors';
import type { Effect, Risk, Row } from '@rowcall/protocol';

/** The columns that an effect is derived from. */
export type EffectColumns = Pick<Row, 'type' | 'target' | 'effect'>;

/** From what changes nothing to what cannot be undone. */
const SEVERITY = { read: 0, write: 1, destructive: 2 } as const satisfies Record<Effect, number>;

/**
 * What a call of the row does to the world. A declared effect wins, but a function is never taken for milder than it
 * says it is: a row named `read` that deletes would be fired by whatever only reads. Where none is declared, http goes by its method (RFC 9110: GET and HEAD
 * are safe), fn as the function declares, and all else is `write`; so is a flow, until its steps are known.
 */
export function deriveEffect(row: EffectColumns, functionEffect?: Effect): Effect {
  if (row.effect !== null) return row.type === 'fn' ? toSeverer(row.effect, functionEffect) : row.effect;
  switch (row.type) {
    case 'http':
      return isReadTarget(row.target) ? 'read' : 'write';
    case 'fn':
      return functionEffect ?? 'write';
    case 'agent':
    case 'flow':
      return 'write';
    default:
      return unreachable(row.type);
  }
}

const toSeverer = (declared: Effect, own: Effect = declared): Effect =>
  SEVERITY[own] > SEVERITY[declared] ? own : declared;

/** `METHOD URL`; no method means GET. What is neither is taken for a write. */
function isReadTarget(target: string): boolean {
  const words = target.trim().split(/\s+/);
  const [first = ''] = words;
  if (/^(GET|HEAD)$/i.test(first) || first.includes('://')) return true;
  return words.length === 1 && !/^[A-Z]*$/i.test(first);
}

/** How much care the row needs: `high` when it is marked sensitive. */
export function deriveRisk(row: Pick<Row, 'sensitive'>): Risk {
  return row.sensitive ? 'high' : 'low';
}
