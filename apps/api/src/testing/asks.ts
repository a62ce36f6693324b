import { vi } from 'vitest';
import type { Client } from './client.js';
import type { TestApi } from './test-api.js';

/** An ask as GET /api/asks lists it. */
export interface ListedAsk {
  readonly ask_id: string;
  readonly actor: string;
  readonly question: string;
  readonly times: number;
  readonly best: string | null;
  readonly keys: readonly string[];
  readonly read_keys: readonly string[];
  readonly invoked: { readonly invocation_id: string; readonly key: string; readonly by: string } | null;
}

/** Asks at the door. @returns the answer's ask_id and the key of its best row. */
export async function askAs(client: Client, question: string): Promise<{ id: string; best: string | undefined }> {
  const answer = await client.get(`/api/dispatch?ask=${encodeURIComponent(question)}`);
  if (answer.status !== 200) throw new Error(`the ask was answered ${answer.status}: ${answer.text}`);
  const { ask_id: id, best } = answer.json<{ ask_id: string; best: { key: string } | null }>();
  return { id, best: best?.key };
}

/** Writes what a process was asked, and what was read. */
export async function flushAsks({ context: { asks } }: TestApi): Promise<void> {
  await asks.flush();
  await asks.flush();
}

/** One ask, as the owner sees it; undefined for one that is not kept. */
export async function findAsk(api: TestApi, id: string): Promise<ListedAsk | undefined> {
  const answer = await api.owner.get(`/api/asks?ask_id=${id}`);
  const { asks } = answer.json<{ asks: ListedAsk[] }>();
  if (asks.length > 1) throw new Error(`there are ${asks.length} asks of the id ${id}`);
  return asks[0];
}

/** Waits until an ask is kept without anybody's doing. */
export const untilKept = (api: TestApi, id: string): Promise<ListedAsk> =>
  vi.waitFor(
    async () => {
      const ask = await findAsk(api, id);
      if (ask === undefined) throw new Error(`the ask ${id} is not kept yet`);
      return ask;
    },
    { timeout: 10_000, interval: 20 },
  );
