import { describe, expect, it } from 'vitest';
import { startBackground } from './background.js';

/** Runs changes until as many were made. */
function run(count: number, change: (turn: number) => Promise<unknown>) {
  return new Promise<ReturnType<typeof startBackground>>((resolve) => {
    const background = startBackground((turn) => {
      if (turn + 1 === count) queueMicrotask(() => resolve(background));
      return change(turn);
    }, 1_000);
  });
}

describe('changes beside what is measured', () => {
  it('are made one after the other by their number, and counted', async () => {
    const turns: number[] = [];
    const background = await run(5, async (turn) => turns.push(turn));
    expect(await background.stop()).toBeGreaterThan(0);
    expect(turns.slice(0, 5)).toEqual([0, 1, 2, 3, 4]);
  });

  it('end the run when one failed', async () => {
    const background = await run(2, () => Promise.reject(new Error('refused')));
    await expect(background.stop()).rejects.toThrow('refused');
  });
});
