import type { QueuedCall } from '@rowcall/engine';
import { claimJobs, completeJobs, insertProcess } from '@rowcall/store';
import type { TestApi } from './test-api.js';

/** Runs what waits in a lane, as a runner of it would, in the process of the API. */
export async function runQueue({ context: { store, engine } }: TestApi, lane = 'default'): Promise<void> {
  const runnerId = `runner_${crypto.randomUUID()}`;
  await insertProcess(store.db, { id: runnerId, lanes: [lane], concurrency: 10, host: 'host', pid: 1 });
  const jobs = await claimJobs(store.pool, { runnerId, lanes: [lane], limit: 10 });
  const records = await Promise.all(jobs.map((job) => engine.runQueued(JSON.parse(job.call) as QueuedCall, lane)));
  await completeJobs(store.pool, runnerId, records);
}
