import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@rowcall/embedded-postgres';
import { type Child, startChild } from './child.js';

/** What a {@link Server} is started with. */
export interface ServerOptions {
  readonly dataDir: string;
  /** Undefined: bring a database. */
  readonly databaseUrl: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly say: (line: string) => void;
}

/** Restarts of one part within {@link RESTART_WINDOW_MS} after which the server gives up. */
const RESTARTS_MAX = 5;
const RESTART_WINDOW_MS = 60_000;
const RESTART_WAIT_MS = 500;

const scriptOf = (app: string): string => fileURLToPath(new URL(`../../${app}/dist/main.js`, import.meta.url));

/** Database, API and runner of one data folder. A part that dies is started again. */
export class Server {
  readonly #options: ServerOptions;
  readonly #children = new Map<string, Child>();
  readonly #restarts: number[] = [];
  readonly #failed: Promise<never>;
  #fail: (error: Error) => void = () => undefined;
  #database: EmbeddedPostgres | undefined;
  #databaseUrl = '';
  #stopping = false;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#failed = new Promise<never>((_, reject) => {
      this.#fail = reject;
    });
    this.#failed.catch(() => undefined);
  }

  /** Rejects when a part cannot be kept running. */
  get failed(): Promise<never> {
    return this.#failed;
  }

  /** Starts everything. @returns the address of the API. */
  async start(): Promise<string> {
    this.#databaseUrl = this.#options.databaseUrl ?? (await this.#startDatabase());
    writeFileSync(this.#file('database-url'), `${this.#databaseUrl}\n`, { mode: 0o600 });
    const [api] = await Promise.all([this.#startChild('api'), this.#startChild('runner')]);
    const url = api.ready.url ?? '';
    writeFileSync(this.#file('server.json'), JSON.stringify({ pid: process.pid, url }));
    return url;
  }

  /** Stops everything, in reverse order of starting. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all([...this.#children.values()].map((child) => child.stop()));
    await this.#database?.stop();
    rmSync(this.#file('server.json'), { force: true });
  }

  /** Ends the processes at once; the database still stops in order. */
  kill(): void {
    this.#stopping = true;
    for (const child of this.#children.values()) child.kill();
  }

  #file(name: string): string {
    return path.join(this.#options.dataDir, name);
  }

  async #startDatabase(): Promise<string> {
    const database = await startEmbeddedPostgres({ dir: this.#file('postgres') });
    this.#database = database;
    const ended = database.ended.then(({ code, signal }) => signal ?? `exit code ${code}`);
    this.#keep('database', ended, () => this.#restartDatabase());
    return database.url;
  }

  /** The processes reconnect by themselves, unless the port was taken meanwhile: then they start anew. */
  async #restartDatabase(): Promise<void> {
    const url = await this.#startDatabase();
    if (url === this.#databaseUrl) return;
    this.#databaseUrl = url;
    writeFileSync(this.#file('database-url'), `${url}\n`, { mode: 0o600 });
    await Promise.all([...this.#children.values()].map((child) => child.stop()));
  }

  async #startChild(name: 'api' | 'runner'): Promise<Child> {
    const env = { ...this.#options.env, DATABASE_URL: this.#databaseUrl, ROWCALL_DATA_DIR: this.#options.dataDir };
    const child = await startChild({ name, env, script: scriptOf(name), logFile: this.#file(`${name}.log`) });
    this.#children.set(name, child);
    this.#keep(name, child.ended, () => this.#startChild(name));
    return child;
  }

  /** Starts a part again when it ends; gives up when that happens too often. */
  #keep(name: string, ended: Promise<string>, startAgain: () => Promise<unknown>): void {
    const restart = async () => {
      const how = await ended;
      if (this.#stopping) return;
      this.#options.say(`the ${name} ended (${how}); starting it again`);
      const now = Date.now();
      this.#restarts.push(now);
      const recent = this.#restarts.filter((at) => now - at < RESTART_WINDOW_MS).length;
      if (recent > RESTARTS_MAX) throw new Error(`the ${name} ended ${recent} times within a minute`);
      await new Promise((resolve) => setTimeout(resolve, RESTART_WAIT_MS));
      if (!this.#stopping) await startAgain();
    };
    restart().catch((error: Error) => this.#fail(error));
  }
}

/** The address of a server that runs on the data folder already; undefined when none does. */
export async function findRunning(dataDir: string): Promise<string | undefined> {
  const file = path.join(dataDir, 'server.json');
  if (!existsSync(file)) return undefined;
  try {
    const { url } = JSON.parse(readFileSync(file, 'utf8')) as { url: string };
    const { ok } = await fetch(`${url}/livez`, { signal: AbortSignal.timeout(1_000) });
    return ok ? url : undefined;
  } catch {
    return undefined; // what is left of a server that was killed
  }
}
