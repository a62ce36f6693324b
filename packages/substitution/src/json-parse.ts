import { readJsonString, TemplateSyntaxError } from './json-string.js';
import type { JsonMember, JsonPart } from './json-template.js';
import { JSON_DEPTH_MAX } from './limits.js';
import type { Place } from './parsing.js';
import { readHole } from './reference.js';
import { type Part, scan } from './scan.js';

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /true|false|null/y;
const SPACE = /[ \t\r\n]*/y;

/** Compiles the JSON text of a place (RFC 8259, with holes). Reports the first fault and then returns nothing. */
export function parseJsonParts(place: Place): JsonPart[] {
  const reader = new JsonReader(place);
  try {
    return reader.document();
  } catch (error) {
    if (!(error instanceof TemplateSyntaxError)) throw error;
    place.report(error.offset, error.message);
    return [];
  }
}

/** Reads JSON with holes by recursive descent. Depth is bounded, so no text exhausts the stack. */
class JsonReader {
  private readonly place: Place;
  private readonly text: string;
  private at = 0;
  private depth = 0;

  constructor(place: Place) {
    this.place = place;
    this.text = place.text;
  }

  // document = space value space
  document(): JsonPart[] {
    const parts = this.value();
    if (this.at < this.text.length) throw this.fault('text follows the end of the JSON value; remove it');
    return parts;
  }

  // value = object | array | string | number | "true" | "false" | "null" | hole
  private value(): JsonPart[] {
    this.match(SPACE);
    const parts = this.bareValue();
    this.match(SPACE);
    return parts;
  }

  private bareValue(): JsonPart[] {
    switch (this.text[this.at]) {
      case '{':
        return this.nested(() => this.object());
      case '[':
        return this.nested(() => this.array());
      case '"':
        return toStringParts(this.string());
      case '$':
        return [this.hole()];
      default: {
        const token = this.match(NUMBER) || this.match(WORD);
        if (token === '') {
          throw this.fault(
            'expected a JSON value, or an unquoted $1, $name, $PREV or $ARGS; put text in double quotes',
          );
        }
        return [{ kind: 'text', text: token }];
      }
    }
  }

  // object = "{" [ member { "," member } ] "}"
  private object(): JsonPart[] {
    const members: JsonMember[] = [];
    const fixedNames = new Set<string>();
    this.list('}', () => members.push(this.member(fixedNames)));
    if (members.every(isFixed))
      return enclose(
        '{',
        members.map(({ parts }) => parts),
        '}',
      );
    return [{ kind: 'object', members, fixedNames }];
  }

  // member = string ":" value | "$ARGS"
  private member(fixedNames: Set<string>): JsonMember {
    this.match(SPACE);
    if (this.text[this.at] === '$') return this.spread();
    if (this.text[this.at] !== '"') throw this.fault('expected a member name in double quotes, or $ARGS');
    const start = this.at;
    const name = this.string();
    const source = this.text.slice(start, this.at);
    this.match(SPACE);
    if (this.text[this.at] !== ':') throw this.fault('expected : after the member name');
    this.at += 1;
    const parts = this.value();
    if (name.some((part) => part.kind === 'hole')) return { kind: 'named', name: toSpliced(name), source, parts };
    const fixed = name.map((part) => (part.kind === 'literal' ? part.text : '')).join('');
    if (fixedNames.has(fixed)) throw new TemplateSyntaxError(start, 'the object has this member twice; keep one');
    fixedNames.add(fixed);
    return { kind: 'fixed', parts: enclose(`${JSON.stringify(fixed)}:`, [parts], '') };
  }

  private spread(): JsonMember {
    const hole = readHole(this.text, this.at);
    if (hole?.reference.kind !== 'all') throw this.fault('only $ARGS stands as a member; write "name": $name');
    this.place.use(hole, this.at);
    this.at += hole.source.length;
    this.match(SPACE);
    return { kind: 'all', hole };
  }

  // array = "[" [ value { "," value } ] "]"
  private array(): JsonPart[] {
    const elements: JsonPart[][] = [];
    this.list(']', () => elements.push(this.value()));
    return enclose('[', elements, ']');
  }

  /** Reads what stands between an opening character and `close`, separated by commas. */
  private list(close: string, readItem: () => void): void {
    this.at += 1;
    this.match(SPACE);
    if (this.text[this.at] === close) {
      this.at += 1;
      return;
    }
    for (;;) {
      readItem();
      const next = this.text[this.at];
      if (next !== ',' && next !== close) throw this.fault(`expected , or ${close}`);
      this.at += 1;
      if (next === close) return;
    }
  }

  private nested(read: () => JsonPart[]): JsonPart[] {
    this.depth += 1;
    if (this.depth > JSON_DEPTH_MAX) throw this.fault(`a JSON template nests at most ${JSON_DEPTH_MAX} deep`);
    const parts = read();
    this.depth -= 1;
    return parts;
  }

  private string(): Part[] {
    const decoded = readJsonString(this.text, this.at);
    this.at = decoded.end;
    return scan(this.place, decoded.text, decoded.toOffset);
  }

  private hole(): JsonPart {
    const hole = readHole(this.text, this.at);
    if (hole === undefined) throw this.fault('a dollar outside a string begins $1, $name, $PREV or $ARGS');
    this.place.use(hole, this.at);
    this.at += hole.source.length;
    return { kind: 'value', hole };
  }

  private match(sticky: RegExp): string {
    sticky.lastIndex = this.at;
    const token = sticky.exec(this.text)?.[0] ?? '';
    this.at += token.length;
    return token;
  }

  private fault(message: string): TemplateSyntaxError {
    return new TemplateSyntaxError(this.at, message);
  }
}

type FixedMember = Extract<JsonMember, { kind: 'fixed' }>;

function isFixed(member: JsonMember): member is FixedMember {
  return member.kind === 'fixed';
}

function toStringParts(parts: readonly Part[]): JsonPart[] {
  return enclose('"', [toSpliced(parts)], '"');
}

function toSpliced(parts: readonly Part[]): JsonPart[] {
  return parts.map((part) =>
    part.kind === 'hole'
      ? { kind: 'spliced', hole: part }
      : { kind: 'text', text: JSON.stringify(part.text).slice(1, -1) },
  );
}

/** Puts items between two texts, with commas between them; neighbouring texts become one. */
function enclose(open: string, items: ReadonlyArray<readonly JsonPart[]>, close: string): JsonPart[] {
  const joined: JsonPart[] = [];
  let text = open;
  for (const [index, item] of items.entries()) {
    if (index > 0) text += ',';
    for (const part of item) {
      if (part.kind === 'text') {
        text += part.text;
        continue;
      }
      if (text !== '') joined.push({ kind: 'text', text });
      joined.push(part);
      text = '';
    }
  }
  text += close;
  if (text !== '') joined.push({ kind: 'text', text });
  return joined;
}
