import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '@rowcall/config';
import { replacePrivateFile } from '@rowcall/process';
import { type Child, startChild } from './child.js';
import type { DataLock } from './data-lock.js';
import { type DatabaseRun, startDatabase } from './database.js';
import { Kept, type KeptOptions, type Run } from './kept.js';
import { checkDatabase, checkPort } from './preflight.js';

/** What a {@link Server} is started with. */
export interface ServerOptions {
  /** Absolute path; the folder exists. */
  readonly dataDir: string;
  readonly config: Pick<Config, 'databaseUrl' | 'host' | 'port' | 'publicUrl'>;
  /** Environment of the processes; their database and data folder are added. */
  readonly env: NodeJS.ProcessEnv;
  readonly lock: Pick<DataLock, 'publish'>;
  readonly say: (line: string) => void;
}

/** Where a server can be reached. */
export interface ServerAddress {
  /** For callers: ROWCALL_PUBLIC_URL where it is set. */
  readonly url: string;
  /** From this machine. */
  readonly local: string;
}

const scriptOf = (app: string): string => fileURLToPath(new URL(`../../${app}/dist/main.js`, import.meta.url));

/** Database, API and runner of one data folder. A part that ends is started again. */
export class Server {
  readonly #options: ServerOptions;
  readonly #database: Kept<DatabaseRun>;
  readonly #api: Kept<Child>;
  readonly #runner: Kept<Child>;
  /** Rejects when a part cannot be kept running. */
  readonly failed: Promise<never>;
  /** The last address of the database; a process that starts while it changes waits for it. */
  #databaseUrl: Promise<string> | undefined;
  #knownDatabaseUrl: string | undefined;
  #port: number;
  #url: string | null = null;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#port = options.config.port;
    let giveUp: (error: Error) => void = () => undefined;
    this.failed = new Promise<never>((_, reject) => {
      giveUp = reject;
    });
    this.failed.catch(() => undefined); // also when nobody waits yet
    const keep = <R extends Run>(name: string, start: KeptOptions<R>['start']) =>
      new Kept<R>({ name, start, say: options.say, onGivenUp: giveUp });
    this.#database = keep('database', () => this.#startDatabase());
    this.#api = keep('api', (signal) => this.#startApi(signal));
    this.#runner = keep('runner', (signal) => this.#startRunner(signal));
  }

  /** Starts everything. @throws Error that says what to do, when a part does not start. */
  async start(): Promise<ServerAddress> {
    const { config } = this.#options;
    if (config.port !== 0) await checkPort(config.host, config.port);
    if (config.databaseUrl === undefined) await this.#database.start();
    else await this.#useDatabase(config.databaseUrl);
    const [{ ready }] = await Promise.all([this.#api.start(), this.#runner.start()]);
    const url = ready.url ?? '';
    return { url, local: ready.address ?? url };
  }

  /** Stops everything, in reverse order of starting, also in the midst of a start. May be called again. */
  async stop(): Promise<void> {
    await Promise.all([this.#api.stop(), this.#runner.stop()]);
    await this.#database.stop();
  }

  /** Ends the processes at once; the database still stops in order. To be called after {@link Server.stop}. */
  kill(): void {
    for (const part of [this.#api, this.#runner]) part.run?.kill();
  }

  #file(name: string): string {
    return path.join(this.#options.dataDir, name);
  }

  async #useDatabase(url: string): Promise<void> {
    await checkDatabase(url);
    this.#databaseUrl = Promise.resolve(url);
  }

  async #startDatabase(): Promise<DatabaseRun> {
    const started = startDatabase(this.#file('postgres'));
    this.#databaseUrl = started.then(({ url }) => url);
    this.#databaseUrl.catch(() => undefined);
    const database = await started;
    await this.#moveTo(database.url);
    return database;
  }

  /** The processes reconnect by themselves, unless the port was taken meanwhile: then they start anew. */
  async #moveTo(databaseUrl: string): Promise<void> {
    const before = this.#knownDatabaseUrl;
    if (databaseUrl === before) return;
    this.#knownDatabaseUrl = databaseUrl;
    replacePrivateFile(this.#file('database-url'), `${databaseUrl}\n`);
    if (before !== undefined) await Promise.all([this.#api.restart(), this.#runner.restart()]);
  }

  async #startApi(signal: AbortSignal): Promise<Child> {
    const api = await this.#startChild('api', signal, { ROWCALL_PORT: String(this.#port) });
    this.#url = api.ready.url ?? null;
    // Started again, it must be found where it was.
    if (this.#port === 0) this.#port = this.#portOf(api);
    this.#publish(api.pid, this.#runner.run?.pid);
    return api;
  }

  /** The port that was found for 0. */
  #portOf({ ready }: Child): number {
    const listening = ready.address ?? (this.#options.config.publicUrl === undefined ? ready.url : undefined);
    return listening === undefined ? 0 : Number(new URL(listening).port);
  }

  async #startRunner(signal: AbortSignal): Promise<Child> {
    const runner = await this.#startChild('runner', signal, {});
    this.#publish(this.#api.run?.pid, runner.pid);
    return runner;
  }

  async #startChild(name: 'api' | 'runner', signal: AbortSignal, settings: NodeJS.ProcessEnv): Promise<Child> {
    const { dataDir } = this.#options;
    const env = {
      ...this.#options.env,
      ...settings,
      DATABASE_URL: await this.#databaseUrl,
      ROWCALL_DATA_DIR: dataDir,
    };
    return await startChild({ name, env, script: scriptOf(name), logFile: this.#file(`${name}.log`), signal });
  }

  #publish(...pids: (number | undefined)[]): void {
    this.#options.lock.publish(
      this.#url,
      pids.filter((pid) => pid !== undefined),
    );
  }
}
