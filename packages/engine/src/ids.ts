import { randomFillSync } from 'node:crypto';

const UUID_BYTES = 16;
/** Random bytes are drawn for many ids at once: one draw costs more than the rest of an id. */
const pool = Buffer.alloc(UUID_BYTES * 512);
let offset = pool.length;

/**
 * A UUID version 7 (RFC 9562) without dashes: 48 bits of time in milliseconds, then 74 random bits. There is no counter,
 * which the standard allows for ids of the same millisecond: it would make neighbours guessable.
 */
function newUuidHex(): string {
  if (offset === pool.length) {
    randomFillSync(pool);
    offset = 0;
  }
  const start = offset;
  offset += UUID_BYTES;
  pool.writeUIntBE(Date.now(), start, 6);
  pool[start + 6] = 0x70 | ((pool[start + 6] ?? 0) & 0x0f);
  pool[start + 8] = 0x80 | ((pool[start + 8] ?? 0) & 0x3f);
  return pool.toString('hex', start, offset);
}

/** A new invocation id: time-ordered, unguessable. */
export const newInvocationId = (): string => `inv_${newUuidHex()}`;

/** A new id of an ask: as an invocation's. */
export const newAskId = (): string => `ask_${newUuidHex()}`;

/** A new trace id. */
export const newTraceId = (): string => `t_${newUuidHex()}`;

/** A new id of a process. */
export const newProcessId = (): string => `p_${newUuidHex()}`;
