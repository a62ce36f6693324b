import type { Effect, JsonValue } from '@rowcall/protocol';
import type { z } from 'zod';

/** What a function gets beside its input. */
export interface FunctionContext {
  /** Gives the signal that is aborted when the call is cancelled or its time is up. Made on demand: it is not free. */
  readonly signal: () => AbortSignal;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** IANA zone of the owner. */
  readonly timeZone: string;
}

/** A function that rows of type fn can name as their target. */
export interface FunctionDefinition<Input = unknown> {
  /** The name that a row's `target` gives. */
  readonly name: string;
  /** What it does, in a sentence. */
  readonly what: string;
  readonly effect: Effect;
  /** Checks the positional arguments, an array, before `run`. */
  readonly input: z.ZodType<Input>;
  /** @returns the result: any value that JSON can write. */
  run(input: Input, context: FunctionContext): unknown;
}

/** Helps TypeScript to infer a function's input from its schema. */
export function defineFunction<Input>(definition: FunctionDefinition<Input>): FunctionDefinition {
  return definition as FunctionDefinition;
}

/** The functions of a process, by name. */
export class FunctionRegistry {
  readonly #functions: ReadonlyMap<string, FunctionDefinition>;

  constructor(functions: readonly FunctionDefinition[]) {
    this.#functions = new Map(functions.map((definition) => [definition.name, definition]));
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
