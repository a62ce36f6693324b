/** Why a call was stopped before its end. */
export type StopCause = 'timeout' | 'cancelled';

/** The wall time that one call may take, retries and redirects included. */
export interface Deadline {
  /** Milliseconds left; 0 when stopped. */
  remainingMs(): number;
  /** Null while the call may go on. */
  cause(): StopCause | null;
  /** Has `listener` called once when the call must stop, at once when it must already. @returns takes it back. */
  onStop(listener: (cause: StopCause) => void): () => void;
  /** Waits, but no longer than the call may go on. */
  wait(ms: number): Promise<void>;
  /** Waits for a result, but no longer than the call may go on: then undefined. */
  race<T>(work: Promise<T>): Promise<T | undefined>;
  /** Releases the timer and the caller's signal. */
  close(): void;
}

/** Starts the clock of one call: at the end of the time, or when the caller gives up, it must stop. */
export function openDeadline(timeoutMs: number, caller: AbortSignal): Deadline {
  return new CallDeadline(timeoutMs, caller);
}

/** No AbortSignal of its own: making one for each call costs more than all that it would be asked. */
class CallDeadline implements Deadline {
  readonly #caller: AbortSignal;
  readonly #endsAt: number;
  readonly #timer: NodeJS.Timeout;
  readonly #cancel = (): void => this.#stop('cancelled');
  readonly #listeners = new Set<(cause: StopCause) => void>();
  #cause: StopCause | null = null;

  constructor(timeoutMs: number, caller: AbortSignal) {
    this.#caller = caller;
    this.#endsAt = performance.now() + timeoutMs;
    this.#timer = setTimeout(() => this.#stop('timeout'), timeoutMs);
    if (caller.aborted) this.#cancel();
    else caller.addEventListener('abort', this.#cancel, { once: true });
  }

  remainingMs(): number {
    return this.#cause === null ? Math.max(0, this.#endsAt - performance.now()) : 0;
  }

  cause(): StopCause | null {
    return this.#cause;
  }

  onStop(listener: (cause: StopCause) => void): () => void {
    if (this.#cause === null) this.#listeners.add(listener);
    else listener(this.#cause);
    return () => this.#listeners.delete(listener);
  }

  async wait(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const waited = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    await this.race(waited);
    clearTimeout(timer);
  }

  async race<T>(work: Promise<T>): Promise<T | undefined> {
    let forget: (() => void) | undefined;
    const stopped = new Promise<undefined>((resolve) => {
      forget = this.onStop(() => resolve(undefined));
    });
    try {
      return await Promise.race([work, stopped]);
    } finally {
      forget?.();
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#caller.removeEventListener('abort', this.#cancel);
  }

  #stop(cause: StopCause): void {
    if (this.#cause !== null) return;
    this.#cause = cause;
    for (const listener of this.#listeners) listener(cause);
    this.#listeners.clear();
  }
}
