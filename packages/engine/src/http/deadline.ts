import { setTimeout as sleep } from 'node:timers/promises';

/** Why a call was stopped before its end. */
export type StopCause = 'timeout' | 'cancelled';

/** The wall time that one call may take, retries and redirects included. */
export interface Deadline {
  /** Aborts at the end of the time, or when the caller gives up. */
  readonly signal: AbortSignal;
  /** Milliseconds left; 0 when stopped. */
  remainingMs(): number;
  /** Null while the call may go on. */
  cause(): StopCause | null;
  /** Waits, but no longer than the call may go on. */
  wait(ms: number): Promise<void>;
  /** Waits for a result, but no longer than the call may go on: then undefined. */
  race<T>(work: Promise<T>): Promise<T | undefined>;
  /** Releases the timer and the caller's signal. */
  close(): void;
}

/** Starts the clock of one call. `AbortSignal.any` is avoided: on Node 20 it holds on to a long-lived signal's dependants. */
export function openDeadline(timeoutMs: number, caller: AbortSignal): Deadline {
  const controller = new AbortController();
  const endsAt = performance.now() + timeoutMs;
  let cause: StopCause | null = null;
  const stop = (why: StopCause): void => {
    cause ??= why;
    controller.abort(new Error(why));
  };
  const cancel = (): void => stop('cancelled');
  const timer = setTimeout(stop, timeoutMs, 'timeout');
  if (caller.aborted) cancel();
  else caller.addEventListener('abort', cancel, { once: true });
  return {
    signal: controller.signal,
    remainingMs: () => (cause === null ? Math.max(0, endsAt - performance.now()) : 0),
    cause: () => cause,
    wait: async (ms) => {
      try {
        await sleep(ms, undefined, { signal: controller.signal });
      } catch (error) {
        if (cause === null) throw error;
      }
    },
    race: (work) => raceSignal(work, controller.signal),
    close: () => {
      clearTimeout(timer);
      caller.removeEventListener('abort', cancel);
    },
  };
}

async function raceSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  let stop = (): void => undefined;
  const stopped = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined);
  });
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
