import { parseDocstring } from '@rowcall/contract';
import type { JsonObject, Row } from '@rowcall/protocol';
import type { CapabilityDocument } from '@rowcall/resolver';

/** Arguments of a schema that are searched: what comes after so many, or so deep, tells nothing more of what a row does. */
const ARGUMENTS_MAX = 200;
const DEPTH_MAX = 4;

/** Names and descriptions of arguments. */
interface ArgumentTexts {
  readonly names: string[];
  readonly notes: string[];
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Adds the properties that a schema names, those of nested objects and of the elements of arrays included. */
function collect(schema: unknown, found: ArgumentTexts, depth: number): void {
  if (!isObject(schema) || depth > DEPTH_MAX) return;
  for (const [name, property] of Object.entries(isObject(schema.properties) ? schema.properties : {})) {
    if (found.names.length >= ARGUMENTS_MAX) return;
    found.names.push(name);
    if (!isObject(property)) continue;
    if (typeof property.description === 'string') found.notes.push(property.description);
    collect(property, found, depth + 1);
  }
  collect(schema.items, found, depth + 1);
}

/** What of a row is searched. */
export function toCapabilityDocument(row: Row): CapabilityDocument {
  const { doc } = parseDocstring(row.content, row.type);
  const found: ArgumentTexts = {
    names: doc.args.map(({ name }) => name),
    notes: doc.args.map(({ note }) => note ?? ''),
  };
  collect(row.input_schema, found, 0);
  return {
    key: row.key,
    category: row.category,
    what: doc.what ?? '',
    whenToUse: doc.whenToUse ?? '',
    asks: row.pinned_for.join('\n'),
    argumentNames: [...new Set(found.names)].join(' '),
    argumentNotes: [...new Set(found.notes)].join(' '),
    examples: row.examples.join(' '),
    rank: row.planner_rank,
    demoted: row.demoted,
    pinnedFor: row.pinned_for,
  };
}
