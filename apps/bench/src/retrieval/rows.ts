import { type Row, rowWriteSchema } from '@rowcall/protocol';
import type { Tool } from './data.js';
import { toKeys } from './keys.js';

/** The tools as rows, such as an import would store. */
export interface ToolRows {
  readonly rows: readonly Row[];
  /** Id of the tool that a key stands for. */
  readonly ids: ReadonlyMap<string, string>;
}

const AT = '2026-01-01T00:00:00.000Z';

function toRow({ description = '', category = '', schema = null }: Tool, key: string): Row {
  const what = description.replace(/\s+/g, ' ').trim();
  const written = rowWriteSchema.parse({
    key,
    type: 'http',
    category,
    content: `# WHAT: ${what}`,
    input_schema: schema,
  });
  return { ...written, version: 1, created_at: AT, updated_at: AT };
}

/** Makes one row of each tool. */
export function toToolRows(tools: readonly Tool[]): ToolRows {
  const keys = toKeys(tools);
  const keyed = tools.map((tool) => ({ tool, key: keys.get(tool.id) ?? '' }));
  return {
    rows: keyed.map(({ tool, key }) => toRow(tool, key)),
    ids: new Map(keyed.map(({ tool, key }) => [key, tool.id])),
  };
}
