import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** The checkout. */
export const ROOT = path.resolve(import.meta.dirname, '../../../..');

const READY_MS_MAX = 45_000;

/** What is started, and with which settings. */
export interface Command {
  readonly words: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly uid?: number;
}

/** A program that a test started, in a process group of its own, as a terminal gives. */
export interface Started {
  readonly pid: number;
  /** Standard output and standard error so far. */
  output(): string;
  /** Waits until the output has the pattern. @throws Error with the output, when the program ends first. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with exit code and signal. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** Signals the process alone, or its group as a terminal does. */
  signal(name: NodeJS.Signals): void;
  signalGroup(name: NodeJS.Signals): void;
}

/** Names that a start must not inherit from whoever runs the tests. */
const FOREIGN = /^(ROWCALL_|DATABASE_URL|TEST_DATABASE_URL|VITEST|NODE_ENV|NODE_OPTIONS|npm_)/;

function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !FOREIGN.test(name)));
}

const groups = new Set<number>();
const folders = new Set<string>();

/** Kills what the tests left running, groups of programs that ended included, and removes their folders. For `afterAll`. */
export async function cleanUp(): Promise<void> {
  for (const group of groups) {
    try {
      process.kill(-group, 'SIGKILL');
    } catch {
      // nothing is left of it
    }
  }
  groups.clear();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 30, retryDelay: 100 });
  folders.clear();
}

/** A data folder that does not exist yet. */
export function newDataDir(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'rowcall-cli-'));
  folders.add(folder);
  return path.join(folder, 'data');
}

/** Starts a program. */
export function startProgram({ words, env, uid }: Command): Started {
  const [command = '', ...args] = words;
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...cleanEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const pid = child.pid ?? 0;
  groups.add(pid);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk) => (text += chunk));
  const ended = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  return {
    pid,
    output: () => text,
    until: (pattern) => untilOutput(child, () => text, pattern),
    ended,
    signal: (name) => void child.kill(name),
    signalGroup: (name) => void process.kill(-pid, name),
  };
}

async function untilOutput(child: ChildProcess, output: () => string, pattern: RegExp): Promise<RegExpExecArray> {
  const late = AbortSignal.timeout(READY_MS_MAX);
  const ended = once(child, 'close').then(() => true);
  for (;;) {
    const match = pattern.exec(output());
    if (match !== null) return match;
    const isOver = await Promise.race([ended, once(child.stdout as never, 'data', { signal: late }).then(() => false)]);
    if (isOver && !pattern.test(output())) throw new Error(`ended without ${pattern}:\n${output()}`);
  }
}

/** A whole server that is ready. */
export interface StartedServer extends Started {
  readonly url: string;
  readonly dataDir: string;
  readonly ownerKey: string;
  /** The id that its first receipt has. */
  readonly firstReceipt: string;
  /** Milliseconds from the start to the line of the first receipt. */
  readonly readyMs: number;
}

/** The words of a start without npm. */
export const START = [process.execPath, path.join(ROOT, 'apps/cli/dist/main.js'), 'start'] as const;
/** The words of a start as people do it. */
export const NPM_START = ['npm', 'start'] as const;

/** Starts a whole server on a free port and waits until it is ready. */
export async function startServer(
  options: { dataDir?: string; env?: NodeJS.ProcessEnv; words?: readonly string[] } = {},
): Promise<StartedServer> {
  const { dataDir = newDataDir(), words = START } = options;
  const start = performance.now();
  const env = { ROWCALL_DATA_DIR: dataDir, ROWCALL_PORT: '0', ...options.env };
  const started = startProgram({ words, env });
  const [, firstReceipt = ''] = await started.until(/first receipt: .*\n.*\n.*\/receipt\/(inv_\w+)/);
  const readyMs = performance.now() - start;
  await started.until(/Ctrl-C stops everything/);
  const [, url = ''] = await started.until(/rowcall is at (\S+)/);
  const ownerKey = options.env?.ROWCALL_OWNER_KEY ?? readFileSync(path.join(dataDir, 'owner-key'), 'utf8').trim();
  return { ...started, url, dataDir, ownerKey, firstReceipt, readyMs };
}
