import { connect, type Socket } from 'node:net';

/** One answer of an HTTP/1.1 server. */
export interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const NOTHING = Buffer.alloc(0);
const BUFFER_BYTES = 64 * 1024;

/**
 * Cuts the first answer off a stream's bytes.
 * @returns undefined when it is not whole yet.
 * @throws Error for an answer without Content-Length, which no server measured here sends.
 */
export function cutAnswer(bytes: Buffer): { answer: Answer; used: number } | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const head = bytes.toString('latin1', 0, headEnd);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`an answer without content-length: ${head.slice(0, 200)}`);
  const bodyStart = headEnd + HEAD_END.length;
  const used = bodyStart + Number(length);
  if (bytes.length < used) return undefined;
  return { answer: { status: Number(head.slice(9, 12)), body: bytes.subarray(bodyStart, used) }, used };
}

/** What a {@link Connection} reports. */
export interface ConnectionOptions {
  readonly host: string;
  readonly port: number;
  /** An answer; its body is valid only during the call. */
  readonly onAnswer: (answer: Answer) => void;
  /** The connection is of no more use. */
  readonly onBroken: (error: Error) => void;
}

/** A kept-alive HTTP/1.1 connection with one request under way. Bare, so that the generator takes little of the machine. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #socket: Socket;
  #rest: Buffer = NOTHING;
  #closed = false;

  private constructor(options: ConnectionOptions, onConnected: () => void) {
    this.#options = options;
    const { host, port } = options;
    const onread = {
      buffer: Buffer.allocUnsafe(BUFFER_BYTES),
      callback: (bytes: number, buffer: Uint8Array) => {
        this.#read(buffer.subarray(0, bytes) as Buffer);
        return true;
      },
    };
    this.#socket = connect({ host, port, onread, noDelay: true }, onConnected);
    this.#socket.on('error', (error) => this.#break(error));
    this.#socket.on('close', () => this.#break(new Error('the server closed the connection')));
  }

  /** Connects. @throws Error when the server cannot be reached. */
  static open(options: ConnectionOptions): Promise<Connection> {
    return new Promise((resolve, reject) => {
      let opened = false;
      const onBroken = (error: Error) => (opened ? options.onBroken(error) : reject(error));
      const connection = new Connection({ ...options, onBroken }, () => {
        opened = true;
        resolve(connection);
      });
    });
  }

  /** Sends the bytes of a request. The answer to the one before must have come. */
  send(request: Buffer): void {
    this.#socket.write(request);
  }

  close(): void {
    this.#closed = true;
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    try {
      const cut = cutAnswer(bytes);
      const used = cut?.used ?? 0;
      // The chunk's memory is used again for the next one: what is kept is copied.
      this.#rest = used === bytes.length ? NOTHING : Buffer.from(bytes.subarray(used));
      if (cut !== undefined) this.#options.onAnswer(cut.answer);
    } catch (error) {
      this.#break(error as Error);
    }
  }

  #break(error: Error): void {
    if (this.#closed) return;
    this.close();
    this.#options.onBroken(error);
  }
}
