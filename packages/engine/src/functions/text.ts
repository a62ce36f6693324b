import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { AppError } from '@rowcall/errors';
import { sha256 } from '@rowcall/receipts';
import { z } from 'zod';
import { integer, LIST_MAX, requireText, text } from './input.js';
import { defineFunction, type FunctionDefinition } from './registry.js';

/** A function of one text. */
function ofText(name: string, what: string, run: (text: string) => unknown): FunctionDefinition {
  return defineFunction({ name, what, effect: 'read', input: z.tuple([text]), run: ([value]) => run(value) });
}

const echo = defineFunction({
  name: 'ECHO',
  what: 'Gives back what it is given.',
  effect: 'read',
  input: z.tuple([z.unknown()]),
  run: ([value]) => value,
});

const split = defineFunction({
  name: 'SPLIT',
  what: 'The parts of a text between separators.',
  effect: 'read',
  input: z.tuple([text, text.min(1, 'the separator is empty')]),
  run([value, separator]) {
    const parts = value.split(separator, LIST_MAX + 1);
    if (parts.length > LIST_MAX) throw new AppError('invalid_args', `the text has more than ${LIST_MAX} parts`);
    return parts;
  },
});

const replace = defineFunction({
  name: 'REPLACE',
  what: 'The text with every occurrence of another text, taken literally, replaced.',
  effect: 'read',
  input: z.tuple([text, text.min(1, 'the text to look for is empty'), text.optional()]),
  run([value, search, replacement = '']) {
    const parts = value.split(search);
    requireText(value.length + (parts.length - 1) * (replacement.length - search.length));
    return parts.join(replacement);
  },
});

const end = z.union([z.literal('').transform(() => undefined), integer]).optional();

const slice = defineFunction({
  name: 'SLICE',
  what: 'Characters of a text from a start, counted from 0, to before an end; negative ones count from the end.',
  effect: 'read',
  input: z.tuple([text, integer, end]),
  run: ([value, from, to]) => Array.from(value).slice(from, to).join(''),
});

/** Characters, not UTF-16 units: an emoji counts once. */
function countCharacters(value: string): number {
  let count = 0;
  for (const _character of value) count += 1;
  return count;
}

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

function decodeBase64(value: string): string {
  const compact = value.replace(/\s/g, '');
  if (!BASE64.test(compact)) throw new AppError('invalid_args', 'argument 1 is not base64 (RFC 4648)');
  const bytes = Buffer.from(compact, 'base64');
  if (!isUtf8(bytes)) throw new AppError('invalid_args', 'argument 1 is base64 of bytes that are not UTF-8 text');
  return bytes.toString('utf8');
}

function decodeUrl(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch (error) {
    throw new AppError('invalid_args', 'argument 1 has a % that begins no UTF-8 character (RFC 3986)', {
      cause: error,
    });
  }
}

function encodeUrl(value: string): string {
  if (!value.isWellFormed()) throw new AppError('invalid_args', 'argument 1 holds half a surrogate pair');
  return encodeURIComponent(value);
}

const uuid = defineFunction({
  name: 'UUID',
  what: 'A new random UUID (RFC 9562, version 4).',
  effect: 'read',
  input: z.tuple([z.literal('').optional()]),
  run: () => randomUUID(),
});

/** Functions of text. A text has 1 MiB characters at the most, what goes in as what comes out; all are linear. */
export const TEXT_FUNCTIONS: readonly FunctionDefinition[] = [
  echo,
  ofText('UPPER', 'Text in upper case.', (value) => value.toUpperCase()),
  ofText('LOWER', 'Text in lower case.', (value) => value.toLowerCase()),
  ofText('TRIM', 'Text without white space at its ends.', (value) => value.trim()),
  ofText('LENGTH', 'How many characters a text has.', countCharacters),
  split,
  replace,
  slice,
  ofText('BASE64_ENCODE', 'Base64 (RFC 4648) of the UTF-8 bytes of a text.', (value) =>
    Buffer.from(value, 'utf8').toString('base64'),
  ),
  ofText('BASE64_DECODE', 'Text of base64 or base64url (RFC 4648).', decodeBase64),
  ofText('URL_ENCODE', 'Text percent-encoded for one part of a URL (RFC 3986).', encodeUrl),
  ofText('URL_DECODE', 'Text of its percent-encoding (RFC 3986).', decodeUrl),
  ofText('HASH', 'SHA-256 (FIPS 180-4) of the UTF-8 bytes of a text, lower-case hex.', sha256),
  uuid,
];
