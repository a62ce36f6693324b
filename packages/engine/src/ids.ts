import { randomFillSync } from 'node:crypto';
import { toInvocationId, toTraceId } from '@rowcall/protocol';
import { v7 } from 'uuid';

const UUID_BYTES = 16;
/** Random bytes are drawn for many ids at once: one draw costs more than the rest of an id. */
const pool = Buffer.alloc(UUID_BYTES * 256);
let offset = pool.length;

function drawRandom(): Uint8Array {
  if (offset === pool.length) {
    randomFillSync(pool);
    offset = 0;
  }
  offset += UUID_BYTES;
  return pool.subarray(offset - UUID_BYTES, offset);
}

/** UUID version 7 whose 74 bits beside the time are all random: the counter that v7 allows would make neighbours guessable. */
function newUuid(): string {
  const random = drawRandom();
  return v7({
    random,
    msecs: Date.now(),
    seq: Buffer.from(random.buffer, random.byteOffset, UUID_BYTES).readUInt32BE(0),
  });
}

/** A new invocation id: time-ordered, unguessable. */
export const newInvocationId = (): string => toInvocationId(newUuid());

/** A new trace id. */
export const newTraceId = (): string => toTraceId(newUuid());
