/** The end of a function's time: by the clock, or because the call is cancelled. Costs nothing until it is asked for. */
export class Deadline {
  readonly timeoutMs: number;
  readonly #cancelled: AbortSignal;
  #timeout: AbortSignal | undefined;
  #signal: AbortSignal | undefined;

  /** @param timeoutMs counted from the first use of `signal` or `race`. */
  constructor(cancelled: AbortSignal, timeoutMs: number) {
    this.#cancelled = cancelled;
    this.timeoutMs = timeoutMs;
  }

  get signal(): AbortSignal {
    this.#timeout ??= AbortSignal.timeout(this.timeoutMs);
    this.#signal ??= AbortSignal.any([this.#cancelled, this.#timeout]);
    return this.#signal;
  }

  /** Why the time is up; undefined while it is not. */
  get expired(): 'cancelled' | 'function_timeout' | undefined {
    if (this.#cancelled.aborted) return 'cancelled';
    return this.#timeout?.aborted ? 'function_timeout' : undefined;
  }

  /** @returns what `work` gives. @throws the signal's reason when the time is up first. */
  async race<T>(work: PromiseLike<T>): Promise<T> {
    const { signal } = this;
    let stop: (() => void) | undefined;
    const expired = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason);
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
    });
    try {
      return await Promise.race([work, expired]);
    } finally {
      if (stop !== undefined) signal.removeEventListener('abort', stop);
    }
  }
}
