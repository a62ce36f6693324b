import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { isDeeper, JSON_DEPTH_MAX, type JsonValue, parseJson } from '@rowcall/protocol';

const TEXT_TYPE =
  /^(text\/|application\/(.*\+)?(json|xml|yaml|x-yaml|javascript|ecmascript|graphql|x-www-form-urlencoded|x-ndjson|ndjson|jsonl)$|image\/svg\+xml$)/;
const BINARY_TYPE = /^(image|audio|video|font)\//;

/** A body to be turned into a result. */
export interface ResultBody {
  readonly bytes: Buffer;
  /** The `content-type` header as it came. */
  readonly contentType: string | null;
  readonly truncated: boolean;
}

/**
 * Turns a body into the result of a run: the JSON value when the type says JSON and the whole body parses (RFC 8259);
 * text, decoded by the type's charset (WHATWG Encoding, default UTF-8, ill-formed parts replaced); or, for what is
 * neither, `{base64, content_type}`. A cut text ends at a character.
 */
export function toResult({ bytes, contentType, truncated }: ResultBody): JsonValue {
  const { essence, charset } = parseContentType(contentType);
  if (!isText(bytes, essence, charset, truncated)) {
    return { base64: bytes.toString('base64'), content_type: contentType };
  }
  const text = decode(bytes, charset, truncated);
  return (isJsonType(essence) && !truncated ? parseShallowJson(text) : undefined) ?? text;
}

function parseContentType(header: string | null): { essence: string; charset: string | undefined } {
  const [type = '', ...parameters] = (header ?? '').toLowerCase().split(';');
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([^\s"]+)/.exec(parameter)?.[1])
    .find((name) => name !== undefined);
  return { essence: type.trim(), charset };
}

function isJsonType(essence: string): boolean {
  return /^(application|text)\/json$|^[^/]+\/[^/]+\+json$/.test(essence);
}

function isText(bytes: Buffer, essence: string, charset: string | undefined, truncated: boolean): boolean {
  if (TEXT_TYPE.test(essence) || isJsonType(essence) || bytes.length === 0) return true;
  if (BINARY_TYPE.test(essence)) return false;
  return charset !== undefined || (!bytes.includes(0) && isUtf8(truncated ? cutUtf8(bytes) : bytes));
}

/** Drops the bytes of a last character that the cut left incomplete. */
function cutUtf8(bytes: Buffer): Buffer {
  for (let followers = 0; followers < 4 && followers < bytes.length; followers += 1) {
    const at = bytes.length - 1 - followers;
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) return bytes;
    if (byte >= 0xc0) return followers < toFollowers(byte) ? bytes.subarray(0, at) : bytes;
  }
  return bytes;
}

/** How many bytes follow a first byte of UTF-8 (RFC 3629). */
function toFollowers(first: number): number {
  if (first >= 0xf0) return 3;
  return first >= 0xe0 ? 2 : 1;
}

function decode(bytes: Buffer, charset: string | undefined, truncated: boolean): string {
  // `stream` keeps an incomplete last character back instead of replacing it.
  return openDecoder(charset).decode(bytes, { stream: truncated });
}

function openDecoder(charset: string | undefined): TextDecoder {
  try {
    return new TextDecoder(charset ?? 'utf-8');
  } catch (error) {
    // A charset that nobody knows: UTF-8 is the better guess than none.
    if (error instanceof RangeError) return new TextDecoder('utf-8');
    throw error;
  }
}

/** A value that nests deeper stays text: it would overflow the stack of whoever walks it. */
function parseShallowJson(text: string): JsonValue | undefined {
  const value = parseJson(text);
  return value === undefined || isDeeper(value, JSON_DEPTH_MAX) ? undefined : value;
}
