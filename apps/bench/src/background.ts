/** Changes that go on beside what is measured. */
export interface Background {
  /** Ends them. @returns how many were made per second. @throws Error when one failed. */
  stop(): Promise<number>;
}

/** Makes `perSecond` changes, whether the ones before are answered or not. @param change makes one, by its number from 0. */
export function startBackground(change: (turn: number) => Promise<unknown>, perSecond: number): Background {
  const startedAt = performance.now();
  const writes: Promise<unknown>[] = [];
  const timer = setInterval(() => {
    // Timers run late under load: what is due is made up for.
    const due = Math.floor(((performance.now() - startedAt) * perSecond) / 1_000);
    while (writes.length < due) {
      const write = change(writes.length);
      write.catch(() => undefined); // thrown at the end
      writes.push(write);
    }
  }, 1_000 / perSecond);
  return {
    async stop() {
      clearInterval(timer);
      const seconds = (performance.now() - startedAt) / 1_000;
      await Promise.all(writes);
      return writes.length / seconds;
    },
  };
}
