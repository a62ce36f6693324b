/** Failures in a row that open the circuit. */
const FAILURES_MAX = 5;
/** How long, in ms, an open circuit waits before one request may try again. */
const COOL_DOWN_MS = 30_000;

/** Keeps requests away from a service that fails: closed → open after five failures in a row → one probe at a time → closed. */
export class Circuit {
  readonly #now: () => number;
  #failures = 0;
  #probeAt = 0;
  #isProbing = false;

  /** @param now monotonic milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether nothing but a probe may pass. */
  get isOpen(): boolean {
    return this.#failures >= FAILURES_MAX;
  }

  /** False while the circuit is open. True obliges the caller to {@link Circuit.succeed} or {@link Circuit.fail}. */
  enter(): boolean {
    if (!this.isOpen) return true;
    if (this.#isProbing || this.#now() < this.#probeAt) return false;
    this.#isProbing = true;
    return true;
  }

  succeed(): void {
    this.#failures = 0;
    this.#isProbing = false;
  }

  /** @param restMs what the service asked for, in ms: it opens the circuit at once. */
  fail(restMs = 0): void {
    this.#isProbing = false;
    this.#failures = restMs > 0 ? FAILURES_MAX : Math.min(this.#failures + 1, FAILURES_MAX);
    this.#probeAt = Math.max(this.#probeAt, this.#now() + Math.max(restMs, COOL_DOWN_MS));
  }
}
