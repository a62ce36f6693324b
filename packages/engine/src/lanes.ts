import type { Log } from '@rowcall/protocol';
import { listLiveLanes, PROCESS_CHANNEL, type Store, type Subscription } from '@rowcall/store';

/** How often, in ms, heartbeats are looked at: a runner that died says nothing. */
const REFRESH_EVERY_MS = 5_000;

/** Knows, without a query per call, which lanes some living runner serves. */
export class Lanes {
  readonly #store: Store;
  readonly #log: Log;
  #live: ReadonlySet<string> = new Set();
  #timer: NodeJS.Timeout | undefined;
  #refreshing: Promise<void> | undefined;
  #again = false;
  #stopped = false;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  /** What the process's listener has to deliver here. */
  get subscription(): Subscription {
    return {
      channel: PROCESS_CHANNEL,
      onNotification: () => this.#refreshSoon(),
      onConnected: async () => {
        await this.#refresh();
        this.#timer ??= setInterval(() => this.#refreshSoon(), REFRESH_EVERY_MS).unref();
      },
    };
  }

  isLive(lane: string): boolean {
    return this.#live.has(lane);
  }

  /** Lanes that some living runner serves. */
  get live(): readonly string[] {
    return [...this.#live].sort();
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
  }

  /** One look at a time: an earlier one could be answered later, and put back what is over. */
  #refresh(): Promise<void> {
    this.#again = true;
    this.#refreshing ??= this.#look().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #look(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      this.#live = new Set(await listLiveLanes(this.#store.db));
    }
  }

  #refreshSoon(): void {
    if (this.#stopped) return;
    this.#refresh().catch((error: unknown) => this.#log.warn({ err: error }, 'the runners cannot be listed'));
  }
}
