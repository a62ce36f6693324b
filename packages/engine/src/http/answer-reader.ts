import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { BODY_STOP_BYTES, BodyCollector, type CollectedBody, collectBody, EMPTY_BODY } from './body.js';
import type { Answer } from './exchange.js';
import { inflate } from './inflate.js';
import { isRedirectStatus } from './redirect.js';

type Controller = Dispatcher.DispatchController;
type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/** The body of a redirect is read this far, so that its connection can be used again; more closes it. */
const DROPPED_BYTES_MAX = 65_536;

/** Takes a body as it arrives. A failure may come at any time, also after the end. */
interface BodySink {
  add(chunk: Buffer): void;
  end(): void;
  fail(error: unknown): void;
}

/** What a {@link BodySink} belongs to. */
interface SinkOptions {
  readonly controller: Controller;
  readonly keepBytesMax: number;
  /** Told what was read, the first time. */
  readonly settle: (body: CollectedBody) => void;
  /** Told of a defect. */
  readonly reject: (error: unknown) => void;
}

/**
 * Reads one answer while undici reads it off the connection, without a stream in between unless there is something to
 * decompress. A failure before the answer rejects {@link AnswerReader.answer}; a later one is part of the body.
 */
export class AnswerReader implements Dispatcher.DispatchHandler {
  readonly answer: Promise<Answer>;
  readonly #method: string;
  readonly #keepBytesMax: number;
  #resolve!: (answer: Answer) => void;
  #reject!: (error: unknown) => void;
  #controller: Controller | undefined;
  #stopped: Error | undefined;
  #sink: BodySink | undefined;

  constructor(method: string, keepBytesMax: number) {
    this.#method = method;
    this.#keepBytesMax = keepBytesMax;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Ends the exchange wherever it stands, also before it has a connection. */
  stop(reason: Error): void {
    this.#stopped = reason;
    this.#controller?.abort(reason);
    this.#fail(reason);
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#stopped !== undefined) controller.abort(this.#stopped);
  }

  onResponseStart(controller: Controller, status: number, headers: Headers): void {
    if (status < 200) return; // informational (RFC 9110 15.2): the answer is still to come
    const location = isRedirectStatus(status) ? getFirst(headers.location) : undefined;
    const head = {
      status,
      contentType: getFirst(headers['content-type']) ?? null,
      location,
      retryAfter: getFirst(headers['retry-after']),
    };
    const settle = (body: CollectedBody): void => this.#resolve({ ...head, body });
    const options = { controller, settle, reject: this.#reject, keepBytesMax: this.#keepBytesMax };
    const coding = [headers['content-encoding'] ?? ''].flat().join(',');
    const hasBody = this.#method !== 'HEAD' && status !== 204 && status !== 304;
    if (location !== undefined) this.#sink = toDroppedSink(options);
    else this.#sink = hasBody && coding !== '' ? toCodedSink(coding, options) : toPlainSink(options);
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    this.#sink?.add(chunk);
  }

  onResponseEnd(): void {
    this.#sink?.end();
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#fail(error);
  }

  #fail(error: unknown): void {
    if (this.#sink === undefined) this.#reject(error);
    else this.#sink.fail(error);
  }
}

function toPlainSink({ controller, keepBytesMax, settle }: SinkOptions): BodySink {
  const collector = new BodyCollector({ keepBytesMax, stopBytes: BODY_STOP_BYTES });
  return {
    add: (chunk) => {
      if (!collector.add(chunk)) return;
      settle(collector.finish({ stopped: true, error: undefined }));
      controller.abort(new Error('the body is too large'));
    },
    end: () => settle(collector.finish({ stopped: false, error: undefined })),
    fail: (error) => settle(collector.finish({ stopped: false, error })),
  };
}

function toCodedSink(coding: string, { controller, keepBytesMax, settle, reject }: SinkOptions): BodySink {
  const source = new Readable({
    read: () => controller.resume(),
    // What is decompressed may be given up before all has arrived. After the end there is nothing left to abort.
    destroy: (error, done) => {
      controller.abort(error ?? new Error('the body is given up'));
      done(error);
    },
  });
  source.on('error', () => undefined); // a failure is told by what reads the source
  collectDecoded(source, coding, keepBytesMax).then((body) => {
    settle(body);
    source.destroy();
  }, reject);
  return {
    add: (chunk) => {
      if (!source.push(chunk)) controller.pause();
    },
    end: () => source.push(null),
    fail: (error) => source.destroy(error as Error),
  };
}

async function collectDecoded(source: Readable, coding: string, keepBytesMax: number): Promise<CollectedBody> {
  try {
    return await collectBody(inflate(source, coding), { keepBytesMax, stopBytes: BODY_STOP_BYTES });
  } catch (error) {
    return { ...EMPTY_BODY, truncated: true, error };
  }
}

function toDroppedSink({ controller, settle }: SinkOptions): BodySink {
  let size = 0;
  const drop = (): void => settle(EMPTY_BODY);
  return {
    add: (chunk) => {
      size += chunk.length;
      if (size <= DROPPED_BYTES_MAX) return;
      drop();
      controller.abort(new Error('the body of a redirect is too large'));
    },
    end: drop,
    fail: drop,
  };
}

function getFirst(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
