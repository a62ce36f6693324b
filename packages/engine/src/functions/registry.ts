import type { Effect, JsonValue, Limits } from '@rowcall/protocol';
import type { z } from 'zod';

/** What a function gets beside its input. Its members may be taken apart. */
export interface FunctionContext {
  /** Aborted when the call is cancelled or its time is up. Made when it is first read: it is not free. */
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** IANA zone of the owner. */
  readonly timeZone: string;
  /** Who calls, as receipts, versions and events name them: `owner`. */
  readonly actor: string;
  /** Why, in the caller's words. */
  readonly reason: string | null;
  /** Limits of the row. */
  readonly limits: Limits | null;
}

/** A function that rows of type fn can name as their target. */
export interface FunctionDefinition<Input = unknown> {
  /** The name that a row's `target` gives; see {@link FUNCTION_NAME_PATTERN}. */
  readonly name: string;
  /** What it does, in a sentence. */
  readonly what: string;
  readonly effect: Effect;
  /** Checks the positional arguments, an array, before `run`. */
  readonly input: z.ZodType<Input>;
  /**
   * @returns the result: any value that JSON can write, or a promise of it.
   * @throws AppError to refuse the call; any other error is a run that failed.
   */
  run(input: Input, context: FunctionContext): unknown;
}

/** What the name of a function looks like. */
export const FUNCTION_NAME_PATTERN = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;

/** Helps TypeScript to infer a function's input from its schema. */
export function defineFunction<Input>(definition: FunctionDefinition<Input>): FunctionDefinition {
  return definition as FunctionDefinition;
}

/** The functions of a process, by name. Changed only as a whole, so that a lookup is one look into a map. */
export class FunctionRegistry {
  #functions: ReadonlyMap<string, FunctionDefinition> = new Map();

  /** Puts other functions in place of all. @returns the names that came, went, or have another effect now. */
  replace(functions: readonly FunctionDefinition[]): ReadonlySet<string> {
    const before = this.#functions;
    this.#functions = new Map(functions.map((definition) => [definition.name, definition]));
    const names = [...before.keys(), ...this.#functions.keys()];
    return new Set(names.filter((name) => before.get(name)?.effect !== this.#functions.get(name)?.effect));
  }

  find(name: string): FunctionDefinition | undefined {
    return this.#functions.get(name);
  }

  /** Names of all functions, sorted. */
  get names(): readonly string[] {
    return [...this.#functions.keys()].sort();
  }

  /** Effect that a function declares; undefined for one that is not here. */
  effectOf(name: string): Effect | undefined {
    return this.#functions.get(name)?.effect;
  }
}

/** The value as JSON can write it. @throws TypeError for what it cannot, such as a bigint or a cycle. */
export function toJsonResult(value: unknown): { value: JsonValue; text: string } {
  const text = JSON.stringify(value) ?? 'null';
  return { value: typeof value === 'string' ? value : (JSON.parse(text) as JsonValue), text };
}
