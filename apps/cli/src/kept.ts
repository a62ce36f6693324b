import { setTimeout as sleep } from 'node:timers/promises';

/** Something that was started and may end by itself. */
export interface Run {
  /** Resolves with a description of the end, whoever brought it about. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

/** What a {@link Kept} keeps running. */
export interface KeptOptions<R extends Run> {
  readonly name: string;
  /** Starts it; at an abort the start may be given up. */
  readonly start: (signal: AbortSignal) => Promise<R>;
  readonly say: (line: string) => void;
  /** Wait, in ms, before the first restart; it doubles each time, up to sixty times this. Default 50. */
  readonly pauseFirstMs?: number;
  /** It ended too often. */
  readonly onGivenUp: (error: Error) => void;
}

/** Restarts within {@link WINDOW_MS} after which a part is given up. */
const RESTARTS_MAX = 8;
const WINDOW_MS = 60_000;
const PAUSE_FIRST_MS = 50;
const PAUSE_GROWTH_MAX = 60;

/** A part of the server that is started again whenever it ends, until it is stopped. */
export class Kept<R extends Run> {
  readonly #options: KeptOptions<R>;
  readonly #abort = new AbortController();
  readonly #restarts: number[] = [];
  #run: R | undefined;
  #loop: Promise<void> | undefined;

  constructor(options: KeptOptions<R>) {
    this.#options = options;
  }

  /** What runs now; undefined while it is started again. */
  get run(): R | undefined {
    return this.#run;
  }

  /** Starts it for the first time. @throws what the start throws: only later ends lead to another try. */
  async start(): Promise<R> {
    const first = this.#begin();
    this.#loop = first.then(
      (run) => this.#keep(run).catch((error: Error) => this.#options.onGivenUp(error)),
      () => undefined,
    );
    return await first;
  }

  /** Ends what runs, so that it starts anew. */
  async restart(): Promise<void> {
    await this.#run?.stop();
  }

  /** Stops it for good, also in the midst of a start. May be called again. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#run?.stop();
    await this.#loop;
  }

  async #begin(): Promise<R> {
    const { name, start } = this.#options;
    const { signal } = this.#abort;
    if (signal.aborted) throw new Error(`the ${name} is stopped`);
    const run = await start(signal);
    this.#run = run;
    if (signal.aborted) await run.stop();
    return run;
  }

  async #keep(first: R): Promise<void> {
    let run: R | undefined = first;
    while (run !== undefined) {
      const how: string = await run.ended;
      this.#run = undefined;
      run = await this.#startAgain(how);
    }
  }

  /** Tries until it runs. @returns undefined when it was stopped meanwhile. */
  async #startAgain(how: string): Promise<R | undefined> {
    const { name, say } = this.#options;
    const { signal } = this.#abort;
    let reason = how;
    while (!signal.aborted) {
      const pauseMs = this.#countRestart(reason);
      say(`the ${name} ended (${reason}); starting it again`);
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return undefined;
      try {
        return await this.#begin();
      } catch (error) {
        reason = (error as Error).message;
      }
    }
    return undefined;
  }

  /** @returns ms to wait: more each time. @throws Error when it ends too often. */
  #countRestart(reason: string): number {
    const now = performance.now();
    this.#restarts.push(now);
    const recent = this.#restarts.filter((at) => now - at < WINDOW_MS).length;
    if (recent > RESTARTS_MAX) {
      throw new Error(`the ${this.#options.name} ended ${recent} times within a minute, at last with: ${reason}`);
    }
    const { pauseFirstMs = PAUSE_FIRST_MS } = this.#options;
    return pauseFirstMs * Math.min(2 ** (recent - 1), PAUSE_GROWTH_MAX);
  }
}
