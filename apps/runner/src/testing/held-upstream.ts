import type { ServerResponse } from 'node:http';
import { startUpstream } from '@rowcall/testing';
import { vi } from 'vitest';

/** A server that answers a request when the test lets it, `"ok"`. */
export interface HeldUpstream {
  readonly url: string;
  /** Requests for `path` so far. */
  count(path: string): number;
  /** Waits until `path` was requested `times` times. */
  untilRequested(path: string, times?: number): Promise<void>;
  /** Answers every request for `path`, those that wait and those to come. */
  letGo(path: string): void;
  close(): Promise<void>;
}

/** Starts a {@link HeldUpstream} on loopback. */
export async function startHeldUpstream(): Promise<HeldUpstream> {
  const counts = new Map<string, number>();
  const waiting: { path: string; response: ServerResponse }[] = [];
  const open = new Set<string>();
  const answer = (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('"ok"');
  };
  const upstream = await startUpstream((request, response) => {
    const path = request.url ?? '';
    counts.set(path, (counts.get(path) ?? 0) + 1);
    request.resume();
    if (open.has(path)) answer(response);
    else waiting.push({ path, response });
  });
  return {
    ...upstream,
    count: (path) => counts.get(path) ?? 0,
    async untilRequested(path, times = 1) {
      await vi.waitFor(
        () => {
          if ((counts.get(path) ?? 0) < times) throw new Error(`${path} was not requested ${times} times`);
        },
        { timeout: 10_000, interval: 5 },
      );
    },
    letGo(path) {
      open.add(path);
      for (const held of waiting) if (held.path === path) answer(held.response);
    },
  };
}
