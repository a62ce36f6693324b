import { z } from 'zod';

/** Any value that JSON can write (RFC 8259). */
export type JsonValue = null | boolean | number | string | JsonArray | JsonObject;
/** A JSON array. */
export type JsonArray = readonly JsonValue[];
/** A JSON object. */
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** Tells whether `value` is a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses a JSON text (RFC 8259). @returns the value, or undefined when the text is not JSON. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Any JSON object, on the wire. */
export const jsonObjectSchema = z.record(z.string(), z.unknown()) as unknown as z.ZodType<JsonObject, JsonObject>;

/** Levels of arrays and objects in a value from outside. What walks a value takes a stack frame for each. */
export const JSON_DEPTH_MAX = 200;

/** Tells whether a value nests deeper than `levels`, however deep, without recursion. */
export function isDeeper(value: unknown, levels: number): boolean {
  let layer: unknown[] = [value];
  for (let depth = 0; ; depth += 1) {
    const containers = layer.filter((member) => typeof member === 'object' && member !== null);
    if (containers.length === 0) return false;
    if (depth === levels) return true;
    layer = containers.flatMap((container) => Object.values(container as object));
  }
}
