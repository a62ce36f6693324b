import type { Readable } from 'node:stream';
import { AppError } from '@rowcall/errors';

/** How long, in ms, an upload may bring nothing while it is waited for. */
const IDLE_MS = 60_000;

/**
 * The bytes of an upload as they arrive. What is slow here (the database) does not count against the sender, so a great
 * upload may take as long as it needs; a sender that falls silent may not.
 * @throws AppError request_timeout after `idleMs` of silence; invalid_json when the upload ends before its end.
 */
export async function* readUpload(stream: Readable, idleMs = IDLE_MS): AsyncGenerator<Buffer> {
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const silence = new AppError('request_timeout', `nothing arrived for ${idleMs} ms`);
  try {
    for (;;) {
      const timer = setTimeout(() => stream.destroy(silence), idleMs);
      const next = await chunks.next().finally(() => clearTimeout(timer));
      if (next.done === true) return;
      yield next.value;
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('invalid_json', 'the upload ended before its end', { cause: error });
  }
}
