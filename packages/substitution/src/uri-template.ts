import { AppError } from '@rowcall/errors';
import type { JsonValue } from '@rowcall/protocol';
import { encodeComponent } from './percent.js';
import { requireWellFormed, toJson } from './rendering.js';

/** How the expressions of one operator expand (RFC 6570, appendix A). */
interface Operator {
  readonly first: string;
  readonly separator: string;
  readonly named: boolean;
  readonly ifEmpty: string;
  readonly reserved: boolean;
}

const plain = (first: string, separator: string): Operator => ({
  first,
  separator,
  named: false,
  ifEmpty: '',
  reserved: false,
});
const pairs = (first: string, separator: string, ifEmpty: string): Operator => ({
  first,
  separator,
  named: true,
  ifEmpty,
  reserved: false,
});

const OPERATORS = {
  '': plain('', ','),
  '+': { ...plain('', ','), reserved: true },
  '#': { ...plain('#', ','), reserved: true },
  '.': plain('.', '.'),
  '/': plain('/', '/'),
  ';': pairs(';', ';', ''),
  '?': pairs('?', '&', '='),
  '&': pairs('&', '&', '='),
} as const satisfies Record<string, Operator>;

/** The operators of RFC 6570; the empty string is simple expansion. */
export type OperatorName = keyof typeof OPERATORS;

/** One variable of an expression. */
export interface Variable {
  readonly name: string;
  readonly explode: boolean;
  /** Characters to keep (`{var:3}`), or null for all. */
  readonly prefix: number | null;
}

/** A compiled RFC 6570 expression. */
export interface Expression {
  readonly kind: 'expression';
  readonly operator: OperatorName;
  readonly variables: readonly Variable[];
  /** As written, braces included. */
  readonly source: string;
  readonly offset: number;
}

const VARIABLE =
  /^((?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*)(?:(\*)|:([1-9][0-9]{0,3}))?$/;

/**
 * Compiles one expression of RFC 6570, level 4.
 * @param source the expression with its braces
 * @returns the expression, or what is wrong with it
 */
export function parseExpression(source: string, offset: number): Expression | string {
  const body = source.slice(1, -1);
  const first = body[0] ?? '';
  if (first === '') return 'the expression {} names no variable; write %7B%7D for literal braces';
  if ('=,!@|'.includes(first)) return `the operator ${first} is reserved (RFC 6570); use none or one of + # . / ; ? &`;
  const operator = isOperator(first) ? first : '';
  const variables: Variable[] = [];
  for (const text of body.slice(operator.length).split(',')) {
    const match = VARIABLE.exec(text);
    if (match === null) return `"${text.slice(0, 64)}" is not a variable of RFC 6570: write name, name* or name:3`;
    variables.push({
      name: match[1] ?? '',
      explode: match[2] !== undefined,
      prefix: match[3] === undefined ? null : Number(match[3]),
    });
  }
  return { kind: 'expression', operator, variables, source, offset };
}

/** What an expansion needs beside the expression. */
export interface Expansion {
  /** The value of a variable; undefined and null are undefined in the sense of RFC 6570. */
  readonly lookup: (name: string) => JsonValue | undefined;
  /** How `+` and `#` encode a value. */
  readonly encodeReserved: (text: string) => string;
}

/**
 * Expands an expression (RFC 6570, 3.2). Members that are neither text, number nor boolean go in as JSON.
 * @throws AppError `bad_template_value` for a prefix on a list or object, and for text that has no UTF-8 form
 */
export function expandExpression(expression: Expression, expansion: Expansion): string {
  const operator: Operator = OPERATORS[expression.operator];
  const encode = operator.reserved ? expansion.encodeReserved : encodeComponent;
  const pieces: string[] = [];
  for (const variable of expression.variables) {
    const value = expansion.lookup(variable.name);
    if (value === undefined || value === null) continue;
    const piece = expandVariable({ variable, operator, source: expression.source, encode }, value);
    if (piece !== undefined) pieces.push(piece);
  }
  return pieces.length === 0 ? '' : operator.first + pieces.join(operator.separator);
}

interface Frame {
  readonly variable: Variable;
  readonly operator: Operator;
  readonly source: string;
  readonly encode: (text: string) => string;
}

function expandVariable(frame: Frame, value: NonNullable<JsonValue>): string | undefined {
  const { variable, operator } = frame;
  if (typeof value !== 'object') {
    const text = toMember(frame, value);
    return withName(frame, frame.encode(variable.prefix === null ? text : firstCharacters(text, variable.prefix)));
  }
  if (variable.prefix !== null) {
    throw new AppError(
      'bad_template_value',
      `${frame.source}: ${variable.name} must be text, since :${variable.prefix} cuts it`,
    );
  }
  const members = Array.isArray(value)
    ? listElements(frame, value)
    : listPairs(frame, value as Record<string, JsonValue>);
  if (members.length === 0) return undefined;
  return variable.explode ? members.join(operator.separator) : withName(frame, members.join(','));
}

function withName({ variable, operator }: Frame, text: string): string {
  if (!operator.named) return text;
  return text === '' ? variable.name + operator.ifEmpty : `${variable.name}=${text}`;
}

function listElements(frame: Frame, list: readonly JsonValue[]): string[] {
  const elements = list.filter((element) => element !== null).map((element) => frame.encode(toMember(frame, element)));
  return frame.variable.explode ? elements.map((element) => withName(frame, element)) : elements;
}

function listPairs(frame: Frame, object: Readonly<Record<string, JsonValue>>): string[] {
  const members: string[] = [];
  for (const [name, member] of Object.entries(object)) {
    if (member === null) continue;
    const key = frame.encode(requireWellFormed(name, frame.source));
    const value = frame.encode(toMember(frame, member));
    if (!frame.variable.explode) members.push(key, value);
    else if (frame.operator.named && value === '') members.push(key + frame.operator.ifEmpty);
    else members.push(`${key}=${value}`);
  }
  return members;
}

function toMember({ source }: Frame, value: JsonValue): string {
  return requireWellFormed(typeof value === 'string' ? value : toJson(value, source), source);
}

/** The first `count` characters (code points) of `text`. */
function firstCharacters(text: string, count: number): string {
  if (text.length <= count) return text;
  let end = 0;
  for (let taken = 0; taken < count && end < text.length; taken += 1) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(0, end);
}

function isOperator(name: string): name is Exclude<OperatorName, ''> {
  return name !== '' && Object.hasOwn(OPERATORS, name);
}
