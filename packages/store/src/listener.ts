import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@rowcall/protocol';
import pg from 'pg';

/** What a process does with notifications. Called in the order of arrival. */
export interface Subscription {
  readonly channel: string;
  /** One notification. Must not throw. */
  readonly onNotification: (payload: string) => void;
  /** Listening has begun, again after a loss: what was said meanwhile is gone, so read the state anew. */
  readonly onConnected?: () => Promise<void>;
  /** The connection is lost: what is in memory may be old from now on. */
  readonly onLost?: () => void;
}

/** How a {@link Listener} connects. */
export interface ListenerOptions {
  readonly url: string;
  readonly name: string;
  readonly log: Log;
  readonly subscriptions: readonly Subscription[];
}

const RETRY_FIRST_MS = 50;
const RETRY_MAX_MS = 1_000;
/** A connection that does not answer for this long counts as lost. */
const PROBE_EVERY_MS = 5_000;
/** How long, in ms, the end of a connection may take before its socket is destroyed. */
const END_MAX_MS = 1_000;

/** One connection that LISTENs for all subscriptions of the process and comes back by itself when it is lost. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #abort = new AbortController();
  #client: pg.Client | undefined;
  #starting: Promise<void> | undefined;
  #loop: Promise<void> | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** Connects and runs every `onConnected`. May be called twice. @throws when the first connection fails, or after `stop`. */
  start(): Promise<void> {
    this.#starting ??= this.#open().then(
      (client) => {
        this.#loop = this.#keep(client);
      },
      (error) => {
        this.#starting = undefined;
        throw error;
      },
    );
    return this.#starting;
  }

  /** Ends the connection; no callback runs after it. May be called twice, and while a connection is being opened. */
  async stop(): Promise<void> {
    this.#abort.abort();
    if (this.#client !== undefined) await endClient(this.#client);
    await this.#starting?.catch(() => undefined);
    await this.#loop;
  }

  /** Drops the connection as a broken network would, so that the return from a loss can be tried. */
  drop(): void {
    this.#client?.connection.stream.destroy();
  }

  async #keep(first: pg.Client): Promise<void> {
    let client: pg.Client | undefined = first;
    let waitMs = RETRY_FIRST_MS;
    while (!this.#abort.signal.aborted) {
      if (client !== undefined) {
        await this.#untilLost(client);
        if (this.#abort.signal.aborted) return;
        this.#options.log.warn({ listener: this.#options.name }, 'lost the connection for notifications');
        for (const subscription of this.#options.subscriptions) subscription.onLost?.();
        waitMs = RETRY_FIRST_MS;
      } else {
        await sleep(waitMs, undefined, { signal: this.#abort.signal }).catch(() => undefined);
        waitMs = Math.min(waitMs * 2, RETRY_MAX_MS);
      }
      client = await this.#open().catch((error: unknown) => {
        this.#options.log.debug({ err: error }, 'cannot listen yet');
        return undefined;
      });
    }
  }

  /** LISTENs first and reads the state after it, so that no change falls between the two. */
  async #open(): Promise<pg.Client> {
    const { url, name, subscriptions } = this.#options;
    const client = new pg.Client({
      connectionString: url,
      application_name: `${name}-listen`,
      connectionTimeoutMillis: 5_000,
      query_timeout: PROBE_EVERY_MS,
      keepAlive: true,
    });
    client.on('error', () => undefined); // the 'end' that follows is what counts
    const { signal } = this.#abort;
    // Not client.end(): a connection that ends on request while it is being opened never tells so.
    const breakOff = () => client.connection.stream.destroy(new Error('the listener is stopped'));
    signal.addEventListener('abort', breakOff);
    try {
      signal.throwIfAborted();
      await client.connect();
      client.on('notification', ({ channel, payload }) => this.#deliver(channel, payload ?? ''));
      for (const { channel } of subscriptions) await client.query(`listen ${pg.escapeIdentifier(channel)}`);
      for (const { onConnected } of subscriptions) await onConnected?.();
      signal.throwIfAborted();
      this.#client = client;
      return client;
    } catch (error) {
      await endClient(client);
      throw error;
    } finally {
      signal.removeEventListener('abort', breakOff);
    }
  }

  #deliver(channel: string, payload: string): void {
    if (this.#abort.signal.aborted) return;
    for (const subscription of this.#options.subscriptions) {
      if (subscription.channel === channel) subscription.onNotification(payload);
    }
  }

  async #untilLost(client: pg.Client): Promise<void> {
    const probe = setInterval(() => {
      client.query('select 1').catch(() => client.connection.stream.destroy());
    }, PROBE_EVERY_MS);
    probe.unref();
    await new Promise<void>((resolve) => {
      client.once('end', resolve);
      // An end that came while `onConnected` ran has no event left to give.
      if (client.connection.stream.destroyed) resolve();
    });
    clearInterval(probe);
    await endClient(client);
  }
}

/** Says goodbye; a network that swallows everything does not hold it up. */
async function endClient(client: pg.Client): Promise<void> {
  const timer = setTimeout(() => client.connection.stream.destroy(), END_MAX_MS);
  await client.end().catch(() => undefined);
  clearTimeout(timer);
}
