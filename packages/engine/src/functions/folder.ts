import { type FSWatcher, watch } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Log } from '@rowcall/protocol';
import { type ImportModule, loadFunctionModule } from './module.js';
import type { FunctionDefinition } from './registry.js';

/** How long, in ms, after a change the folder is read: an editor saves in several steps. */
const SETTLE_MS = 100;
/** How often, in ms, the folder is read although nothing was announced: not every mount tells of changes. */
const POLL_MS = 2_000;
const MODULE_NAME = /^[^.].*\.m?js$/;

/** What a {@link FunctionFolder} needs. */
export interface FunctionFolderOptions {
  readonly folder: string;
  /** Names that no module may take. */
  readonly taken: ReadonlySet<string>;
  readonly log: Log;
  /** Gets all functions of the folder when they changed. */
  readonly onChange: (functions: readonly FunctionDefinition[]) => void;
  /** Default: Node's import. */
  readonly importModule?: ImportModule;
}

/** One module of the folder. */
interface ModuleFile {
  /** What the file was when it was last tried. */
  stamp: string;
  /** The last good version: what is in use. */
  used?: FunctionDefinition;
  /** A version that loaded and waits for its name, which another has. */
  wanted?: FunctionDefinition;
}

/**
 * Functions from the modules of a folder, kept up to date. A module that is broken, or whose name is taken, is reported
 * and left out; the last good version of the same file stays in use. A file that goes takes its function with it.
 * Modules are code of this process, with all of its authority.
 */
export class FunctionFolder {
  readonly #options: FunctionFolderOptions;
  readonly #folder: string;
  readonly #files = new Map<string, ModuleFile>();
  #watcher: FSWatcher | undefined;
  /** The folder that is watched: one that is made anew under the same name is another. */
  #watched: string | undefined;
  #settling: NodeJS.Timeout | undefined;
  #poll: NodeJS.Timeout | undefined;
  #reading: Promise<void> | undefined;
  #again = false;
  #stopped = false;
  #problem: string | undefined;

  constructor(options: FunctionFolderOptions) {
    this.#options = options;
    this.#folder = path.resolve(options.folder);
  }

  /** Loads every module and begins to watch. A folder that does not exist is empty until it does. */
  async start(): Promise<void> {
    this.#poll = setInterval(() => this.#read(), POLL_MS).unref();
    await this.#read();
  }

  /** Watches no more. The functions stay. May be called twice. */
  stop(): void {
    this.#stopped = true;
    clearInterval(this.#poll);
    clearTimeout(this.#settling);
    this.#watcher?.close();
  }

  /** Reads the folder; once more when it is asked to meanwhile. */
  #read(): Promise<void> {
    this.#again = true;
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false;
      try {
        await this.#watch();
        await this.#update();
        this.#problem = undefined;
      } catch (error) {
        this.#report(error as Error);
      }
    }
  }

  /** The functions in use stay: a mount may be away for a moment. Said once, not at every poll. */
  #report(error: Error): void {
    if (this.#problem === error.message) return;
    this.#problem = error.message;
    this.#options.log.warn({ err: error, folder: this.#folder }, 'the functions folder cannot be read');
  }

  async #watch(): Promise<void> {
    const { dev, ino } = await stat(this.#folder);
    const current = `${dev} ${ino}`;
    if (this.#stopped || current === this.#watched) return;
    this.#watcher?.close();
    this.#watched = current;
    try {
      this.#watcher = watch(this.#folder, { persistent: false }, () => this.#settle());
      this.#watcher.on('error', () => {
        this.#watched = undefined; // the next poll watches again
      });
    } catch (error) {
      this.#options.log.warn(
        { err: error, folder: this.#folder },
        'the functions folder is polled: it cannot be watched',
      );
    }
  }

  #settle(): void {
    clearTimeout(this.#settling);
    if (!this.#stopped) this.#settling = setTimeout(() => this.#read(), SETTLE_MS).unref();
  }

  async #update(): Promise<void> {
    const stamps = await readStamps(this.#folder);
    const before = this.#used;
    for (const name of [...this.#files.keys()]) if (!stamps.has(name)) this.#files.delete(name);
    const changed = [...stamps].filter(([name, stamp]) => this.#files.get(name)?.stamp !== stamp);
    for (const [name, stamp] of changed) await this.#load(name, stamp);
    while (this.#takeOne());
    for (const [name] of changed) this.#reportTaken(name);
    const used = this.#used;
    if (this.#stopped || (used.length === before.length && used.every((each) => before.includes(each)))) return;
    this.#options.onChange(used);
    this.#options.log.info({ functions: used.map(({ name }) => name).sort() }, 'functions loaded');
  }

  get #used(): readonly FunctionDefinition[] {
    return [...this.#files.values()].flatMap(({ used }) => used ?? []);
  }

  async #load(name: string, stamp: string): Promise<void> {
    const file: ModuleFile = { ...this.#files.get(name), stamp };
    delete file.wanted;
    this.#files.set(name, file);
    try {
      file.wanted = await loadFunctionModule(path.join(this.#folder, name), this.#options.importModule);
    } catch (error) {
      const kept = file.used === undefined ? {} : { kept: file.used.name };
      this.#options.log.error(
        { err: error, file: name, ...kept },
        `the function module ${name} is broken: ${toReason(error)}`,
      );
    }
  }

  /** Puts in use what loaded of one file whose name is free. @returns false when there is none. */
  #takeOne(): boolean {
    const names = [...this.#files.keys()].sort();
    for (const file of names.flatMap((name) => this.#files.get(name) ?? [])) {
      if (file.wanted === undefined || this.#ownerOf(file.wanted.name, file) !== undefined) continue;
      file.used = file.wanted;
      delete file.wanted;
      return true;
    }
    return false;
  }

  #reportTaken(name: string): void {
    const file = this.#files.get(name);
    if (file?.wanted === undefined) return;
    const { name: taken } = file.wanted;
    const owner = this.#ownerOf(taken, file);
    this.#options.log.error(
      { file: name, function: taken },
      `the function module ${name} is left out: ${owner} has the name ${taken}`,
    );
  }

  /** Who has a name, beside a file itself. */
  #ownerOf(name: string, file: ModuleFile): string | undefined {
    if (this.#options.taken.has(name)) return 'a built-in function';
    for (const [other, each] of this.#files) if (each !== file && each.used?.name === name) return other;
    return undefined;
  }
}

const toReason = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What each module file is now: saved anew, it is another, by whatever way an editor saves. */
async function readStamps(folder: string): Promise<Map<string, string>> {
  const names = (await readdir(folder)).filter((name) => MODULE_NAME.test(name)).sort();
  const stamps = await Promise.all(names.map(async (name) => [name, await stampOf(path.join(folder, name))] as const));
  return new Map(stamps.flatMap(([name, stamp]) => (stamp === undefined ? [] : [[name, stamp] as const])));
}

/** What a link leads to, where it is the file's own fault that it cannot be read: its load fails and says why. */
const OWN_FAULTS = new Set(['ELOOP', 'ENOTDIR', 'EACCES', 'EPERM', 'ENAMETOOLONG']);

/** @returns undefined for what is no file, or no more. */
async function stampOf(file: string): Promise<string | undefined> {
  try {
    const stats = await stat(file);
    return stats.isFile() ? `${stats.mtimeMs} ${stats.ctimeMs} ${stats.size} ${stats.ino}` : undefined;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (OWN_FAULTS.has(code)) return code;
    throw error;
  }
}
