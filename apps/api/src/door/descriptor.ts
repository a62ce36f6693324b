import { type Entry, toSummary } from '@rowcall/catalogue';
import type { Descriptor } from '@rowcall/protocol';

/** Address of a row's contract. */
export const toContractUrl = (baseUrl: string, key: string): string =>
  `${baseUrl}/api/dispatch?key=${encodeURIComponent(key)}`;

/** Short description of a row. */
export const toDescriptor = (entry: Entry, baseUrl: string): Descriptor => ({
  ...toSummary(entry),
  contract: toContractUrl(baseUrl, entry.row.key),
});
