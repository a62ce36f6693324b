import { describe, expect, it } from 'vitest';
import { Kept, type Run } from './kept.js';

interface FakeRun extends Run {
  end(how: string): void;
}

function makeRun(): FakeRun {
  let end: (how: string) => void = () => undefined;
  const ended = new Promise<string>((resolve) => {
    end = resolve;
  });
  return { ended, end, stop: async () => end('stopped') };
}

/** Keeps runs, and tells which there were and what was said. */
function keep(start: (signal: AbortSignal) => Promise<FakeRun>) {
  const said: string[] = [];
  let onGivenUp: (error: Error) => void = () => undefined;
  const givenUp = new Promise<Error>((resolve) => {
    onGivenUp = resolve;
  });
  const kept = new Kept<FakeRun>({ name: 'part', start, say: (line) => said.push(line), onGivenUp, pauseFirstMs: 1 });
  return { kept, said, givenUp };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 1));
}

describe('a part that is kept running', () => {
  it('starts again when it ends, also when a start fails in between', async () => {
    const runs: FakeRun[] = [];
    let starts = 0;
    const { kept, said } = keep(async () => {
      starts += 1;
      if (starts === 2) throw new Error('no luck');
      const run = makeRun();
      runs.push(run);
      return run;
    });
    const first = await kept.start();
    first.end('SIGKILL');
    await until(() => runs.length === 2);
    expect(said).toEqual([
      'the part ended (SIGKILL); starting it again',
      'the part ended (no luck); starting it again',
    ]);
    await until(() => kept.run === runs[1]);
    await kept.stop();
  });

  it('is given up when it ends nine times within a minute, with the last reason', async () => {
    let starts = 0;
    const { kept, givenUp } = keep(async () => {
      starts += 1;
      const run = makeRun();
      run.end(`end ${starts}`);
      return run;
    });
    await kept.start();
    expect((await givenUp).message).toBe('the part ended 9 times within a minute, at last with: end 9');
    expect(starts).toBe(9);
  });

  it('does not start again once it is stopped, and may be stopped twice', async () => {
    let starts = 0;
    const { kept, said } = keep(async () => {
      starts += 1;
      return makeRun();
    });
    await kept.start();
    await Promise.all([kept.stop(), kept.stop()]);
    expect(starts).toBe(1);
    expect(said).toEqual([]);
    await expect(kept.start()).rejects.toThrow('the part is stopped');
  });

  it('that is stopped in the midst of its start is told, and stopped when it starts all the same', async () => {
    let finish: () => void = () => undefined;
    const ready = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const run = makeRun();
    let wasTold = false;
    const { kept } = keep(async (signal) => {
      signal.addEventListener('abort', () => {
        wasTold = true;
      });
      await ready;
      return run;
    });
    const started = kept.start();
    const stopped = kept.stop();
    expect(wasTold).toBe(true);
    finish();
    await Promise.all([started, stopped]);
    expect(await run.ended).toBe('stopped');
  });

  it('fails its first start without another try', async () => {
    const { kept, said } = keep(() => Promise.reject(new Error('no database')));
    await expect(kept.start()).rejects.toThrow('no database');
    expect(said).toEqual([]);
    await kept.stop();
  });
});
