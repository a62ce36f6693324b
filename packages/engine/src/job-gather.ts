import { Gather, insertJobs, type NewJob, NO_FAILURES, type Store } from '@rowcall/store';

/** Characters of calls that are queued in one statement. */
const CHARACTERS_MAX = 8 * 1024 * 1024;

/** Queues the calls that come in at the same time in one statement, with one notification for the runners. */
export function buildJobGather(store: Store): Gather<NewJob> {
  return new Gather({
    inFlightMax: 2,
    batchMax: 500,
    weight: { of: ({ call }) => call.length, max: CHARACTERS_MAX },
    async flush(jobs) {
      await insertJobs(store.pool, jobs);
      return NO_FAILURES;
    },
  });
}
