import { AppError } from '@rowcall/errors';
import type { JsonMember, JsonPart } from './json-template.js';
import type { Hole } from './reference.js';
import { badValue, type Rendering, toJson } from './rendering.js';

/** Renders compiled JSON to JSON text. */
export function renderJsonParts(parts: readonly JsonPart[], rendering: Rendering): string {
  let text = '';
  for (const part of parts) {
    if (part.kind === 'text') text += part.text;
    else if (part.kind === 'spliced') text += toStringBody(rendering.text(part.hole));
    else if (part.kind === 'value') text += renderValue(part.hole, rendering);
    else text += renderObject(part, rendering);
  }
  return text;
}

const NEEDS_ESCAPE = /[^\x20\x21\x23-\x5b\x5d-\ud7ff\ue000-\uffff]/;

/** The text as it stands between the quotes of a JSON string. */
function toStringBody(text: string): string {
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text).slice(1, -1) : text;
}

function renderValue(hole: Hole, rendering: Rendering): string {
  const value = rendering.value(hole);
  if (value === undefined) throw notJson(hole, 'has no value');
  if (hole.reference.kind !== 'position' && hole.reference.kind !== 'rest') {
    return rendering.spend(toJson(value, hole.source));
  }
  const text = rendering.spend(String(value));
  if (!isJson(text)) throw notJson(hole, 'is not JSON');
  // The text itself, not what parses from it: numbers keep all their digits.
  return text.trim();
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

function notJson(hole: Hole, problem: string): AppError {
  return new AppError(
    'bad_json_value',
    `${hole.source} ${problem}, but stands where the template needs a JSON value; send one, or quote it in the template`,
    { details: { argument: hole.source } },
  );
}

type ObjectPart = Extract<JsonPart, { kind: 'object' }>;

/** Collects the members of one object, so that no computed name repeats another. */
interface Members {
  readonly texts: string[];
  readonly names: Set<string>;
}

function renderObject(object: ObjectPart, rendering: Rendering): string {
  const members: Members = { texts: [], names: new Set() };
  for (const member of object.members) {
    if (member.kind === 'fixed') members.texts.push(renderJsonParts(member.parts, rendering));
    else if (member.kind === 'named') addNamed(members, object, { member, rendering });
    else addUnused(members, object, { member, rendering });
  }
  return `{${members.texts.join(',')}}`;
}

interface Addition<Kind extends JsonMember['kind']> {
  readonly member: Extract<JsonMember, { kind: Kind }>;
  readonly rendering: Rendering;
}

function addNamed(members: Members, object: ObjectPart, { member, rendering }: Addition<'named'>): void {
  const nameText = `"${renderJsonParts(member.name, rendering)}"`;
  const name = JSON.parse(nameText) as string;
  if (object.fixedNames.has(name) || members.names.has(name)) throw repeated(member.source);
  members.names.add(name);
  members.texts.push(`${nameText}:${renderJsonParts(member.parts, rendering)}`);
}

/** Members that the template writes out win over arguments of the same name. */
function addUnused(members: Members, object: ObjectPart, { member, rendering }: Addition<'all'>): void {
  for (const [name, value] of rendering.unusedNamed()) {
    if (object.fixedNames.has(name)) continue;
    if (members.names.has(name)) throw repeated(member.hole.source);
    members.names.add(name);
    members.texts.push(rendering.spend(`${JSON.stringify(name)}:${toJson(value, member.hole.source)}`));
  }
}

function repeated(source: string): AppError {
  return badValue(source, 'would repeat the name of another member of the object; send another value');
}
