import { watch } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { EFFECTS, type Log } from '@rowcall/protocol';
import { z } from 'zod';
import { defineFunction, type FunctionDefinition } from './registry.js';

/** Files that hold a function each. */
const MODULE = /\.m?js$/;
/** How long, in ms, a burst of changes may last before the folder is read. */
const SETTLE_MS = 100;

/** What a module must export by default, or give when its default export is called with `{ z, defineFunction }`. */
const definitionSchema = z.object({
  name: z.string().regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/, 'must be a name'),
  what: z.string().min(1).max(2_000),
  effect: z.enum(EFFECTS),
  input: z.custom<z.ZodType>(
    (input) => typeof (input as z.ZodType | null)?.safeParse === 'function',
    'must be a Zod schema',
  ),
  run: z.custom<FunctionDefinition['run']>((run) => typeof run === 'function', 'must be a function'),
});

/** A module that could not be used, and why. */
export interface BrokenModule {
  readonly file: string;
  readonly message: string;
}

/** What a folder of functions holds. */
export interface LoadedFunctions {
  readonly functions: readonly FunctionDefinition[];
  readonly broken: readonly BrokenModule[];
}

/** How a {@link FunctionFolder} works. */
export interface FunctionFolderOptions {
  /** Folder whose modules each hold a function. */
  readonly folder: string;
  /** Names that modules may not take: those that are built in. */
  readonly reserved: ReadonlySet<string>;
  readonly log: Log;
  /** Called after every load. */
  readonly onLoad: (loaded: LoadedFunctions) => void;
}

/**
 * Loads the functions of a folder, at the start and whenever it changes. A module that is broken is reported and
 * skipped; when it worked before, its last good form stays.
 */
export class FunctionFolder {
  readonly #options: FunctionFolderOptions;
  readonly #good = new Map<string, { readonly changedMs: number; readonly definition: FunctionDefinition }>();
  readonly #abort = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #loading: Promise<void> = Promise.resolve();

  constructor(options: FunctionFolderOptions) {
    this.#options = options;
  }

  /** Loads the folder and watches it. @throws Error when the folder cannot be read. */
  async start(): Promise<void> {
    await this.#load();
    const { signal } = this.#abort;
    const watcher = watch(this.#options.folder, { signal, persistent: false }, () => this.#loadSoon());
    watcher.on('error', (error) => this.#options.log.warn({ err: error }, 'the functions folder is no longer watched'));
  }

  /** Ends the watch. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#abort.abort();
  }

  #loadSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#loading = this.#loading
        .then(() => this.#load())
        .catch((error: unknown) => this.#options.log.warn({ err: error }, 'the functions folder cannot be read'));
    }, SETTLE_MS);
  }

  async #load(): Promise<void> {
    const { folder, log, onLoad } = this.#options;
    const files = (await readdir(folder)).filter((name) => MODULE.test(name)).sort();
    for (const file of this.#good.keys()) if (!files.includes(file)) this.#good.delete(file);
    const broken: BrokenModule[] = [];
    const taken = new Map<string, string>();
    const functions: FunctionDefinition[] = [];
    for (const file of files) {
      try {
        const definition = await this.#readModule(file);
        this.#requireFree(definition.name, taken);
        taken.set(definition.name, file);
        functions.push(definition);
      } catch (error) {
        broken.push({ file, message: (error as Error).message });
        log.error({ err: error, file }, 'a function module is broken; it is skipped, or stays as it was');
        const last = this.#good.get(file)?.definition;
        if (last !== undefined && !taken.has(last.name)) functions.push(last);
      }
    }
    log.info({ functions: functions.map(({ name }) => name), broken: broken.length }, 'functions loaded');
    onLoad({ functions, broken });
  }

  #requireFree(name: string, taken: ReadonlyMap<string, string>): void {
    if (this.#options.reserved.has(name)) throw new Error(`the name ${name} is built in; choose another`);
    const other = taken.get(name);
    if (other !== undefined) throw new Error(`the name ${name} is taken by ${other}; choose another`);
  }

  async #readModule(file: string): Promise<FunctionDefinition> {
    const location = path.join(this.#options.folder, file);
    const { mtimeMs } = await stat(location);
    const known = this.#good.get(file);
    if (known?.changedMs === mtimeMs) return known.definition;
    // Modules are cached by their address: a changed one needs a new one.
    const module = (await import(`${pathToFileURL(location).href}?changed=${mtimeMs}`)) as { default?: unknown };
    const made = typeof module.default === 'function' ? await module.default({ z, defineFunction }) : module.default;
    const definition = toDefinition(made);
    this.#good.set(file, { changedMs: mtimeMs, definition });
    return definition;
  }
}

function toDefinition(made: unknown): FunctionDefinition {
  const parsed = definitionSchema.safeParse(made);
  if (parsed.success) return made as FunctionDefinition;
  const problems = parsed.error.issues.map(
    ({ path: place, message }) => `${place.join('.') || 'the default export'} ${message}`,
  );
  throw new Error(`export by default {name, what, effect, input, run}: ${problems.join('; ')}`);
}
