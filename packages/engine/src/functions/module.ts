import { realpath } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { EFFECTS } from '@rowcall/protocol';
import { z } from 'zod';
import { defineFunction, FUNCTION_NAME_PATTERN, type FunctionDefinition } from './registry.js';

/** How long, in ms, a module may take to load: its top level may wait for something that never comes. */
const LOAD_MS = 10_000;

/** What a module's function gets, so that a folder of modules needs no packages of its own. */
const KIT = { z, defineFunction };

const isFunction = (value: unknown): boolean => typeof value === 'function';

const definitionSchema = z.object({
  name: z.string('must be a text').regex(FUNCTION_NAME_PATTERN, `must match ${FUNCTION_NAME_PATTERN.source}`),
  what: z.string('must be a text').trim().min(1, 'must say what the function does').max(1_000),
  effect: z.enum(EFFECTS, `must be one of ${EFFECTS.join(', ')}`),
  // By what it can do: a module may bring a Zod of its own.
  input: z.custom<FunctionDefinition['input']>(
    (value) => isFunction((value as { safeParse?: unknown } | null | undefined)?.safeParse),
    'must be a Zod schema of the arguments, an array',
  ),
  run: z.custom<FunctionDefinition['run']>(isFunction, 'must be a function'),
});

/** Imports a module by its URL. */
export type ImportModule = (url: string) => Promise<{ readonly default?: unknown }>;

const importByNode: ImportModule = (url) => import(/* @vite-ignore */ url);

let loads = 0;

/**
 * Imports a module and takes the function that it default-exports, or that its default export makes of
 * `{ z, defineFunction }`. Each load runs the module anew; what it imports itself is loaded once per process. The old
 * module stays in memory: Node.js never lets one go.
 * @param file absolute path.
 * @param importModule Node's own import, which a test runner may have put its own in place of.
 * @throws Error that says what is wrong with it.
 */
export async function loadFunctionModule(file: string, importModule = importByNode): Promise<FunctionDefinition> {
  // CommonJS modules are kept by their file, whatever the query says, and by what a link leads to.
  delete createRequire(import.meta.url).cache[await realpath(file)];
  loads += 1;
  return withinTime(importModule(`${pathToFileURL(file).href}?load=${loads}`).then(toDefinition));
}

async function toDefinition({ default: exported }: { default?: unknown }): Promise<FunctionDefinition> {
  const made: unknown = typeof exported === 'function' ? await exported(KIT) : exported;
  const parsed = definitionSchema.safeParse(made);
  if (parsed.success) return toBound(made as FunctionDefinition, parsed.data);
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'default export'}: ${message}`);
  throw new Error(`is not a function definition: ${problems.join('; ')}`);
}

/** A copy: what the module does to its object later changes nothing. `run` keeps its `this`. */
function toBound(made: FunctionDefinition, { name, what, effect, input, run }: FunctionDefinition): FunctionDefinition {
  return { name, what, effect, input, run: (given, context) => run.call(made, given, context) };
}

async function withinTime<T>(loading: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`did not load within ${LOAD_MS} ms`)), LOAD_MS);
  });
  try {
    return await Promise.race([loading, late]);
  } finally {
    clearTimeout(timer);
  }
}
