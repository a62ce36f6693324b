import ipaddr from 'ipaddr.js';

/** Wrong credentials that a network may send in one window. */
const FAILURES_MAX = 20;
const WINDOW_MS = 60_000;
/** Networks that are told apart at the same time; those beyond it are counted together. */
const NETWORKS_MAX = 10_000;
const OTHERS = 'other';

interface Window {
  /** By the clock of the limit, in ms. */
  readonly until: number;
  failures: number;
}

/**
 * What counts as one address: an IPv4 address, also one that is written as IPv6, or the /64 of an IPv6 address (RFC 4291
 * section 2.5.4), whose holder has 2^64 addresses to send from. `unknown` for a connection that is gone.
 */
export function toNetwork(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  return `${new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0])}/64`;
}

/** Counts wrong credentials by network, in windows of a minute that begin with a network's first. */
export class FailureLimit {
  readonly #now: () => number;
  /** In the order of their ends. */
  readonly #windows = new Map<string, Window>();

  /** @param now clock in ms that is never set back; `performance.now` when not given. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Networks that are being counted. */
  get size(): number {
    return this.#windows.size;
  }

  /** Counts one wrong credential. @returns the seconds until the next may be tried; undefined when it is one of the free. */
  add(network: string): number | undefined {
    this.#dropOver();
    const name = this.#windows.has(network) || this.#windows.size < NETWORKS_MAX ? network : OTHERS;
    const window = this.#windows.get(name) ?? { until: this.#now() + WINDOW_MS, failures: 0 };
    this.#windows.set(name, window);
    window.failures += 1;
    return window.failures > FAILURES_MAX ? Math.ceil((window.until - this.#now()) / 1_000) : undefined;
  }

  #dropOver(): void {
    for (const [name, { until }] of this.#windows) {
      if (until > this.#now()) return;
      this.#windows.delete(name);
    }
  }
}
