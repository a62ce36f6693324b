import type { Entry } from '@rowcall/catalogue';
import type { Descriptor } from '@rowcall/protocol';

const WHAT_LENGTH_MAX = 200;

/** Address of a row's contract. */
export const toContractUrl = (baseUrl: string, key: string): string =>
  `${baseUrl}/api/dispatch?key=${encodeURIComponent(key)}`;

/** Short description of a row. */
export function toDescriptor({ row, doc, effect, risk }: Entry, baseUrl: string): Descriptor {
  const what = (doc.what ?? '').replace(/\s+/g, ' ');
  return {
    key: row.key,
    type: row.type,
    category: row.category,
    what: what.length > WHAT_LENGTH_MAX ? `${what.slice(0, WHAT_LENGTH_MAX - 1)}…` : what,
    effect,
    risk,
    version: row.version,
    contract: toContractUrl(baseUrl, row.key),
  };
}
