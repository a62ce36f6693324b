import {
  dispatchBodySchema,
  isDeeper,
  isJsonObject,
  JSON_DEPTH_MAX,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '@rowcall/protocol';

/** Names that other protocols give to what is `key` here. */
const KEY_NAMES = ['key', 'name', 'tool', 'tool_name'];
/** Names under which callers put named arguments, rightly, by mistake or by habit. */
const WRAPPERS = ['args', 'arguments', 'input', 'params', 'parameters'];

/** Tells whether a row has an argument of that name: then it is no wrapper. */
export type HasArgument = (key: string, name: string) => boolean;

/**
 * The call that was probably meant by one whose key or arguments stand in another place: under a name of another
 * protocol, wrapped twice, an object as `body`, a JSON text as `args`.
 * @returns undefined when nothing is misplaced, or when it cannot be told what was meant.
 */
export function correctMisnested(body: JsonObject, hasArgument: HasArgument): JsonObject | undefined {
  if (typeof body.key === 'string' && typeof body.body === 'string') return undefined;
  const keyName = KEY_NAMES.find((name) => typeof body[name] === 'string');
  const [inputName, second] = ['body', ...WRAPPERS].filter((name) => body[name] !== undefined);
  if (keyName === undefined || inputName === undefined || second !== undefined) return undefined;
  const { [keyName]: key, [inputName]: input = null, ...rest } = body;
  const given = inputName === 'body' ? input : parseText(input);
  const meant = unwrap(given, (name) => hasArgument(String(key), name));
  const form = isJsonObject(meant) ? 'args' : 'body';
  if (keyName === 'key' && inputName === form && meant === input) return undefined;
  const send: JsonObject = { key: String(key), [form]: meant, ...rest };
  return dispatchBodySchema.safeParse(send).success ? send : undefined;
}

/** A text that holds a JSON object, as the object; one that nests deeper than a body may stays a text. */
function parseText(value: JsonValue): JsonValue {
  const parsed = typeof value === 'string' ? parseJson(value) : undefined;
  return isJsonObject(parsed) && !isDeeper(parsed, JSON_DEPTH_MAX) ? parsed : value;
}

function unwrap(value: JsonValue, isArgument: (name: string) => boolean): JsonValue {
  if (!isJsonObject(value)) return value;
  const [name = '', ...others] = Object.keys(value);
  if (others.length > 0 || !WRAPPERS.includes(name) || isArgument(name)) return value;
  const inner = value[name];
  return isJsonObject(inner) ? unwrap(inner, isArgument) : value;
}
