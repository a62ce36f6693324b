import { createHash, type Hash } from 'node:crypto';

/** Bytes after which reading stops, whatever the row allows: 64 MiB after decompression. */
export const BODY_STOP_BYTES = 67_108_864;

/** What was read of a body. */
export interface CollectedBody {
  /** The body, or its beginning when it is larger than the limit. */
  readonly bytes: Buffer;
  /** Bytes that arrived in all. */
  readonly size: number;
  /** `bytes` is not all of it. */
  readonly truncated: boolean;
  /** Lower-case hex SHA-256 of a truncated body that arrived whole; else null. */
  readonly sha256: string | null;
  /** Reading stopped at {@link BODY_STOP_BYTES}. */
  readonly stopped: boolean;
  /** What ended the stream early; undefined when it ended by itself. */
  readonly error: unknown;
}

/** Limits of a {@link BodyCollector}. */
export interface BodyLimits {
  /** How much to keep. */
  readonly keepBytesMax: number;
  /** How much to read and hash before giving up. */
  readonly stopBytes: number;
}

/** The body of an answer that has none. */
export const EMPTY_BODY: CollectedBody = {
  bytes: Buffer.alloc(0),
  size: 0,
  truncated: false,
  sha256: null,
  stopped: false,
  error: undefined,
};

/**
 * Reads a body to its end and keeps the beginning. A body over the limit is still hashed whole, without being held. An
 * error of the stream is part of the answer, so that what arrived before it is not lost.
 */
export async function collectBody(source: AsyncIterable<Buffer>, limits: BodyLimits): Promise<CollectedBody> {
  const collector = new BodyCollector(limits);
  try {
    for await (const chunk of source) {
      if (collector.add(chunk)) return collector.finish({ stopped: true, error: undefined });
    }
    return collector.finish({ stopped: false, error: undefined });
  } catch (error) {
    return collector.finish({ stopped: false, error });
  }
}

/** Keeps the beginning of a body that is given to it piece by piece, and hashes one that is larger. */
export class BodyCollector {
  readonly #limits: BodyLimits;
  /** Set once the body turns out to be too large: the usual one is never hashed here. */
  #hash: Hash | undefined;
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;
  #size = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** @returns true when reading must stop */
  add(chunk: Buffer): boolean {
    this.#size += chunk.length;
    const room = this.#limits.keepBytesMax - this.#keptBytes;
    if (this.#hash === undefined && chunk.length > room) {
      this.#hash = createHash('sha256');
      for (const part of this.#kept) this.#hash.update(part);
    }
    this.#hash?.update(chunk);
    if (room > 0) {
      const part = chunk.subarray(0, room);
      this.#kept.push(part);
      this.#keptBytes += part.length;
    }
    return this.#size > this.#limits.stopBytes;
  }

  /** What was kept. To be asked once for a body that came to its end. */
  finish({ stopped, error }: { stopped: boolean; error: unknown }): CollectedBody {
    return {
      bytes: Buffer.concat(this.#kept, this.#keptBytes),
      size: this.#size,
      truncated: this.#hash !== undefined || error !== undefined,
      sha256: stopped || error !== undefined ? null : (this.#hash?.digest('hex') ?? null),
      stopped,
      error,
    };
  }
}
