/** What a run has opened, closed in reverse order when it ends, fails or is interrupted. */
export class Cleanup {
  readonly #steps: (() => Promise<unknown>)[] = [];
  #running: Promise<void> | undefined;

  /** Has `step` run at the end, before all that was added earlier. */
  add(step: () => Promise<unknown>): void {
    this.#steps.push(step);
  }

  /** Runs all steps, each whatever became of the others. @throws AggregateError when some failed. */
  run(): Promise<void> {
    this.#running ??= this.#runAll();
    return this.#running;
  }

  async #runAll(): Promise<void> {
    const errors: unknown[] = [];
    for (const step of this.#steps.reverse()) await step().catch((error: unknown) => errors.push(error));
    if (errors.length > 0) throw new AggregateError(errors, 'not everything could be closed');
  }
}

/** Exit code of a program that was interrupted: 128 and the number of SIGINT. */
const EXIT_INTERRUPTED = 130;

/** Does `work` and closes what it opened, at Ctrl-C as well. */
export async function withCleanup<T>(work: (cleanup: Cleanup) => Promise<T>): Promise<T> {
  const cleanup = new Cleanup();
  const interrupt = () => {
    const end = () => process.exit(EXIT_INTERRUPTED);
    cleanup.run().then(end, end);
  };
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    return await work(cleanup);
  } finally {
    await cleanup.run();
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}
