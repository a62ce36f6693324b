import { isJsonObject, type JsonObject, type JsonValue } from '@rowcall/protocol';
import { isMeasureName, isSecretName } from './redact-names.js';
import { REDACTED, redactShapes } from './redact-shapes.js';
import { buildStringReplacer, hideCutSecret, toSecretForms } from './redact-values.js';

/**
 * Replaces secrets by `[redacted]`. Both functions give back the very same value when there was nothing to replace, so
 * `redactor.json(value) !== value` tells that something was.
 */
export interface Redactor {
  text(text: string): string;
  json(value: JsonValue): JsonValue;
}

/**
 * Builds the redactor for what is stored or logged: by field name (`authorization`, `cookie`, `*token*`, `*secret*`,
 * `password` …, whose counts stay: `max_tokens: 100`), by well-known shapes of keys and tokens, and by the values
 * themselves in their usual encodings. Values of fewer than four characters are not looked for. Linear in the text.
 */
export function buildRedactor(secrets: readonly string[]): Redactor {
  const byValue = buildByValue(secrets);
  const text = (input: string): string => redactShapes(byValue(input));
  const number = buildNumberJudge(secrets);
  return { text, json: (value) => redactJson(value, { text, number, judge: isSecretName, depth: 0 }) };
}

/** A redactor by values, which also knows what a text may end in that was cut off. */
export interface ValueRedactor extends Redactor {
  /** Hides the head of a value at the end of a text that was cut. */
  cutText(text: string): string;
}

/** Builds the redactor for what goes back to the caller: by the values alone, so that a result keeps its own tokens. */
export function buildValueRedactor(secrets: readonly string[]): ValueRedactor {
  const text = buildByValue(secrets);
  const number = buildNumberJudge(secrets);
  const forms = [...new Set(secrets.flatMap(toSecretForms))];
  return {
    text,
    json: (value) => redactJson(value, { text, number, judge: () => false, depth: 0 }),
    cutText: (cut) => hideCutSecret(cut, forms, REDACTED),
  };
}

/** A secret of digits may come back as a number. */
function buildNumberJudge(secrets: readonly string[]): (value: number) => boolean {
  const digits = new Set(secrets.map((secret) => secret.trim()).filter((secret) => /^\d{4,}$/.test(secret)));
  return digits.size === 0 ? () => false : (value) => digits.has(String(value));
}

function buildByValue(secrets: readonly string[]): (text: string) => string {
  const forms = new Set(secrets.flatMap(toSecretForms));
  return buildStringReplacer([...forms], REDACTED).replace;
}

/** Nesting beyond which a value is replaced whole: deeper ones would overflow the stack. */
const DEPTH_MAX = 500;

interface Rules {
  readonly text: (text: string) => string;
  readonly number: (value: number) => boolean;
  readonly judge: (name: string) => boolean;
  readonly depth: number;
}

function redactJson(value: JsonValue, rules: Rules): JsonValue {
  if (typeof value === 'string') return rules.text(value);
  if (typeof value === 'number') return rules.number(value) ? REDACTED : value;
  if (typeof value !== 'object' || value === null) return value;
  if (rules.depth === DEPTH_MAX) return REDACTED;
  const inner = { ...rules, depth: rules.depth + 1 };
  return isJsonObject(value) ? redactObject(value, inner) : redactArray(value, inner);
}

function redactArray(values: readonly JsonValue[], rules: Rules): JsonValue {
  const [name, second] = values;
  // A header or parameter as a pair.
  if (values.length === 2 && typeof name === 'string' && typeof second === 'string' && rules.judge(name)) {
    return second === REDACTED ? values : [rules.text(name), REDACTED];
  }
  const next = values.map((value) => redactJson(value, rules));
  return next.some((value, index) => value !== values[index]) ? next : values;
}

function redactObject(object: JsonObject, rules: Rules): JsonValue {
  const named = getNamedValue(object, rules);
  let changed = false;
  const entries = Object.entries(object).map(([key, value]): [string, JsonValue] => {
    const nextKey = rules.text(key);
    const name = key === 'value' && named !== undefined ? named : key;
    const next = rules.judge(name) ? hide(value, isMeasureName(name), rules.depth) : redactJson(value, rules);
    changed ||= nextKey !== key || next !== value;
    return [nextKey, next];
  });
  return changed ? Object.fromEntries(entries) : object;
}

/** A header or parameter as an object: `{"name": "authorization", "value": "…"}`. */
function getNamedValue(object: JsonObject, rules: Rules): string | undefined {
  const { name, key } = object;
  return [name, key].find((candidate) => typeof candidate === 'string' && rules.judge(candidate)) as string | undefined;
}

/** Hides every string below a secret name, and numbers unless they are counts. Booleans, null and empty strings say nothing. */
function hide(value: JsonValue, keepNumbers: boolean, depth: number): JsonValue {
  if (typeof value === 'string') return value === '' ? value : REDACTED;
  if (typeof value === 'number') return keepNumbers ? value : REDACTED;
  if (typeof value !== 'object' || value === null) return value;
  if (depth === DEPTH_MAX) return REDACTED;
  const inner = (member: JsonValue): JsonValue => hide(member, keepNumbers, depth + 1);
  if (!isJsonObject(value)) {
    const next = value.map(inner);
    return next.some((member, index) => member !== value[index]) ? next : value;
  }
  const next = Object.entries(value).map(([key, member]): [string, JsonValue] => [key, inner(member)]);
  return next.some(([key, member]) => member !== value[key]) ? Object.fromEntries(next) : value;
}
