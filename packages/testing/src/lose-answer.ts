import pg from 'pg';

/** `unsent`: the statement does not reach Postgres. `lost`: it does, but its answer is lost. `late`: it does after that. */
export type Loss = 'unsent' | 'lost' | 'late';

/** A connection that fails once. */
export interface LostAnswer {
  /** Lets a `late` statement through. @returns when Postgres has done it. */
  letThrough(): Promise<void>;
}

type Query = (this: pg.Client, ...args: unknown[]) => unknown;

/** Fails the next statement of this process whose text has `part`, as a connection that ends does. */
export function loseAnswer(part: string, loss: Loss): LostAnswer {
  const prototype = pg.Client.prototype as unknown as { query: Query };
  const original = prototype.query;
  let send = async (): Promise<void> => {};
  prototype.query = function query(...args) {
    if (!textOf(args[0]).includes(part)) return original.apply(this, args);
    prototype.query = original;
    const callback = args.at(-1);
    const bare = typeof callback === 'function' ? args.slice(0, -1) : args;
    const { host, port, user, database, password } = this;
    // Over another connection where this one has ended meanwhile, as a server goes on with what it has received.
    send = () => sendAnew({ host, port, user, database, password: password ?? '' }, bare);
    const done = (loss === 'lost' ? Promise.resolve(original.apply(this, bare)) : Promise.resolve()).then(() => {
      throw new Error('Connection terminated unexpectedly');
    });
    if (typeof callback !== 'function') return done;
    done.catch((error: unknown) => callback(error));
    return undefined;
  };
  return { letThrough: () => send() };
}

async function sendAnew(config: pg.ClientConfig, args: readonly unknown[]): Promise<void> {
  const client = new pg.Client(config);
  await client.connect();
  try {
    await (client.query as Query).apply(client, [...args]);
  } finally {
    await client.end();
  }
}

const textOf = (query: unknown): string =>
  typeof query === 'string' ? query : String((query as { text?: unknown } | undefined)?.text ?? '');
