/** Failures in a row that open a circuit. */
export const BREAKER_FAILURES = 5;
/** Milliseconds an open circuit waits before it lets one probe through. */
export const BREAKER_COOL_DOWN_MS = 10_000;
const CIRCUITS_MAX = 1_024;

/** What an attempt says about the upstream's health. `unknown`: nothing, such as a cancelled call. */
export type Health = 'up' | 'down' | 'unknown';

/** Keeps calls away from upstreams that do not answer. One circuit per key. */
export interface CircuitBreaker {
  /** False while the circuit is open. True obliges the caller to {@link CircuitBreaker.leave}. */
  enter(key: string): boolean;
  leave(key: string, health: Health): void;
}

interface Circuit {
  failures: number;
  /** When the next probe may go; null while closed. */
  probeAt: number | null;
  probing: boolean;
}

/**
 * Builds a circuit breaker: closed → open after {@link BREAKER_FAILURES} in a row → one probe per cool-down → closed.
 * Only circuits with failures are held, at most 1,024; the longest untouched is forgotten first.
 *
 * @param now - monotonic milliseconds
 */
export function buildCircuitBreaker(now: () => number): CircuitBreaker {
  const circuits = new Map<string, Circuit>();
  return {
    enter: (key) => {
      const circuit = circuits.get(key);
      if (circuit === undefined || circuit.probeAt === null) return true;
      if (circuit.probing || now() < circuit.probeAt) return false;
      circuit.probing = true;
      return true;
    },
    leave: (key, health) => {
      if (health === 'up') {
        circuits.delete(key);
        return;
      }
      const circuit = circuits.get(key) ?? { failures: 0, probeAt: null, probing: false };
      circuit.probing = false;
      if (health === 'unknown') return;
      circuit.failures += 1;
      if (circuit.failures >= BREAKER_FAILURES) circuit.probeAt = now() + BREAKER_COOL_DOWN_MS;
      touch(circuits, key, circuit);
    },
  };
}

function touch(circuits: Map<string, Circuit>, key: string, circuit: Circuit): void {
  circuits.delete(key);
  circuits.set(key, circuit);
  if (circuits.size <= CIRCUITS_MAX) return;
  const [oldest] = circuits.keys();
  if (oldest !== undefined) circuits.delete(oldest);
}
