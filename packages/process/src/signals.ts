const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Ctrl-C often arrives twice: from the terminal, and from the package manager that passes it on; a service manager
 * sends SIGTERM to a whole group. Signals within this time, in ms, are one request.
 */
const ONE_REQUEST_MS = 500;

/** What a process does when it is asked to stop. */
export interface StopRequests {
  /** The first request: stop in order. */
  readonly onFirst: (signal: NodeJS.Signals) => void;
  /** Each later one: stop at once. */
  readonly onFurther: (signal: NodeJS.Signals) => void;
}

/** Calls back when a signal (SIGINT, SIGTERM, SIGHUP) asks the process to stop; signals that arrive together count once. */
export function onStopSignal({ onFirst, onFurther }: StopRequests): void {
  let lastAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now();
    if (lastAt === undefined) onFirst(signal);
    else if (now - lastAt < ONE_REQUEST_MS) return;
    else onFurther(signal);
    lastAt = now;
  };
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal);
}
