import { parseDocstring } from '@rowcall/contract';
import type { JsonObject, JsonValue, Row } from '@rowcall/protocol';

/** What of a row the systems search that the product is compared with. */
export interface RowTexts {
  readonly key: string;
  readonly category: string;
  readonly what: string;
  /** Names and descriptions of the arguments. */
  readonly args: string;
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Names and descriptions of a schema's properties, at every depth. */
function toSchemaText(schema: JsonValue | undefined): string {
  if (!isObject(schema)) return '';
  const { properties, items, description } = schema;
  const named = isObject(properties) ? Object.entries(properties) : [];
  const inner = named.map(([name, property]) => `${name} ${toSchemaText(property)}`);
  return [typeof description === 'string' ? description : '', ...inner, toSchemaText(items)].join(' ');
}

/** The texts of a row. */
export const toRowTexts = ({ key, category, content, type, input_schema: schema }: Row): RowTexts => ({
  key,
  category,
  what: parseDocstring(content, type).doc.what,
  args: toSchemaText(schema ?? undefined),
});
