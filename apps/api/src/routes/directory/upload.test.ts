import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { readUpload } from './upload.js';

async function read(stream: PassThrough, { idleMs, workMs = 0 }: { idleMs: number; workMs?: number }): Promise<string> {
  let received = '';
  for await (const chunk of readUpload(stream, idleMs)) {
    received += chunk;
    await sleep(workMs);
  }
  return received;
}

describe('an upload', () => {
  it('whose sender falls silent is given up', async () => {
    const stream = new PassThrough();
    stream.write('a');
    await expect(read(stream, { idleMs: 20 })).rejects.toMatchObject({ code: 'request_timeout' });
    expect(stream.destroyed).toBe(true);
  });

  it('is not given up while it is this side that is slow', async () => {
    const stream = new PassThrough();
    stream.write('a');
    const received = read(stream, { idleMs: 50, workMs: 120 });
    stream.write('b');
    stream.end();
    expect(await received).toBe('ab');
  });

  it('that breaks off is no end', async () => {
    const stream = new PassThrough();
    stream.write('a');
    setImmediate(() => stream.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' })));
    await expect(read(stream, { idleMs: 1_000 })).rejects.toMatchObject({ code: 'invalid_json' });
  });
});
