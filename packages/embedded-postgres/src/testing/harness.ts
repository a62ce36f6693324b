import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import ts from 'typescript';
import type { EmbeddedPostgresOptions } from '../options.js';
import { isAlive } from '../process-check.js';
import type { LaunchInternals } from '../start.js';

/** What the child program printed. */
export interface ChildReport {
  readonly pid: number;
  readonly url: string;
  readonly reused: boolean;
  readonly error?: string;
}

/** The launcher as plain JavaScript for processes of its own, and folders for tests. */
export interface Bench {
  /** Makes a folder that every user may enter. */
  makeFolder(): Promise<string>;
  /** Starts the child program, under another user id if one is given. */
  launch(options: EmbeddedPostgresOptions, internals?: LaunchInternals, uid?: number): ChildProcess;
  /** Kills what was launched; the servers end by themselves. */
  killLaunched(): Promise<void>;
  /** Kills what was launched and removes every folder. */
  clear(): Promise<void>;
}

/** Makes a bench in the folder for temporary files, and transpiles the launcher into it. */
export async function makeBench(): Promise<Bench> {
  const root = await mkdtemp(join(tmpdir(), 'rowcall-pg-'));
  await chmod(root, 0o755);
  await transpile(join(import.meta.dirname, '..'), join(root, 'code'));
  const children: ChildProcess[] = [];
  const killLaunched = async () => {
    const live = children.splice(0).filter((child) => child.exitCode === null && child.signalCode === null);
    await Promise.all(
      live.map(async (child) => {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }),
    );
  };
  return {
    makeFolder: async () => {
      const folder = await mkdtemp(join(root, 'test-'));
      await chmod(folder, 0o755);
      return folder;
    },
    launch: (options, internals = {}, uid) => {
      const program = join(root, 'code/testing/child.js');
      const child = spawn(process.execPath, [program, JSON.stringify({ options, internals })], {
        stdio: ['pipe', 'pipe', 'inherit'],
        detached: true, // a process group of its own, as a terminal gives
        ...(uid === undefined ? {} : { uid, gid: uid }),
      });
      children.push(child);
      return child;
    },
    killLaunched,
    clear: async () => {
      await killLaunched();
      await rm(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

async function transpile(from: string, to: string): Promise<void> {
  const compilerOptions = { module: ts.ModuleKind.ES2022, target: ts.ScriptTarget.ES2022 };
  await mkdir(join(to, 'testing'), { recursive: true });
  await writeFile(join(to, 'package.json'), '{"type":"module"}');
  await symlink(join(from, '../node_modules'), join(to, 'node_modules'));
  const names = [...(await readdir(from)), 'testing/child.ts'];
  for (const name of names.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))) {
    const { outputText } = ts.transpileModule(await readFile(join(from, name), 'utf8'), { compilerOptions });
    await writeFile(join(to, name.replace(/ts$/, 'js')), outputText);
  }
}

/** The first line that the child prints. */
export async function readReport(child: ChildProcess): Promise<ChildReport> {
  const lines = createInterface({ input: child.stdout as Readable });
  const [line] = (await once(lines, 'line')) as [string];
  return JSON.parse(line) as ChildReport;
}

/** A connected client that bears the end of its server. */
export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Runs one statement over a connection of its own. */
export async function queryOnce(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = await connect(url);
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Milliseconds until the process is gone. Throws after `limitMs`. */
export async function timeUntilGone(pid: number, limitMs: number): Promise<number> {
  const start = performance.now();
  while (isAlive(pid)) {
    if (performance.now() - start > limitMs) throw new Error(`process ${pid} still lives after ${limitMs} ms`);
    await sleep(20);
  }
  return performance.now() - start;
}

/** The ids of processes by their command line, its words parted by zero bytes (Linux). */
export async function findProcesses(isWanted: (commandLine: string) => boolean): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    const line = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (isWanted(line)) found.push(Number(name));
  }
  return found;
}
