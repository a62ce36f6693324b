import type { Entry } from '@rowcall/catalogue';
import { AppError } from '@rowcall/errors';
import type { Input } from '@rowcall/receipts';

const WINDOW_MS = 60_000;

interface Window {
  readonly beganAt: number;
  calls: number;
}

/** Holds the calls of a process to the limits of their rows. */
export class RowLimits {
  readonly #now: () => number;
  readonly #windows = new Map<string, Window>();

  /** @param now milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Counts a call. Only rows that limit their rate are counted, each by the minute and in this process alone.
   * @throws AppError payload_too_large, or rate_limited with `retry_after` in seconds.
   */
  admit({ row: { key, limits } }: Entry, input: Input): void {
    if (limits === null) return;
    if (limits.max_body_bytes !== undefined) requireSmall(key, input, limits.max_body_bytes);
    if (limits.rate_per_minute !== undefined) this.#count(key, limits.rate_per_minute);
  }

  /** Takes a call back that was counted and then did not begin. */
  giveBack({ row: { key, limits } }: Entry): void {
    const window = limits?.rate_per_minute === undefined ? undefined : this.#windows.get(key);
    if (window !== undefined && window.calls > 0) window.calls -= 1;
  }

  #count(key: string, callsMax: number): void {
    const now = this.#now();
    const known = this.#windows.get(key);
    const window = known !== undefined && now - known.beganAt < WINDOW_MS ? known : { beganAt: now, calls: 0 };
    this.#windows.set(key, window);
    if (window.calls >= callsMax) {
      const seconds = Math.max(1, Math.ceil((window.beganAt + WINDOW_MS - now) / 1_000));
      throw new AppError('rate_limited', `${key} takes ${callsMax} calls a minute`, {
        details: { retry_after: seconds },
        fix: `send again in ${seconds} s`,
      });
    }
    window.calls += 1;
  }
}

function requireSmall(key: string, input: Input, bytesMax: number): void {
  const bytes = Buffer.byteLength('body' in input ? input.body : JSON.stringify(input.args));
  if (bytes <= bytesMax) return;
  throw new AppError('payload_too_large', `${key} takes ${bytesMax} bytes of arguments; these are ${bytes}`);
}
