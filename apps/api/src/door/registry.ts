import type { Entry } from '@rowcall/catalogue';
import { AppError } from '@rowcall/errors';
import { parseJson } from '@rowcall/protocol';
import type { DoorContext } from '../context.js';
import { staleness } from './contract.js';
import { toDescriptor } from './descriptor.js';

/** Descriptors of one page, at the most. */
export const REGISTRY_LIMIT_MAX = 500;

type Position = readonly [category: string, seq: number, key: string];

const toPosition = ({ row }: Entry): Position => [row.category, row.seq, row.key];

const order = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0);

const isAfter = (a: Position, b: Position): boolean =>
  (order(a[0], b[0]) || order(a[1], b[1]) || order(a[2], b[2])) > 0;

/** The place after which a page begins; rows that come or go meanwhile neither repeat nor hide others. */
function parseCursor(cursor: string): Position {
  const value = parseJson(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (Array.isArray(value) && value.length === 3) {
    const [category, seq, key] = value as readonly unknown[];
    if (typeof category === 'string' && typeof seq === 'number' && typeof key === 'string') return [category, seq, key];
  }
  throw new AppError('unrecognized_request', 'the cursor is not one that a page gave; begin without it');
}

const toCursor = (entry: Entry): string => Buffer.from(JSON.stringify(toPosition(entry))).toString('base64url');

/** One page of flat descriptors of the registry. */
export function listRegistry(context: DoorContext, options: { category?: string; limit: number; cursor?: string }) {
  const { category, limit, cursor } = options;
  const inCategory = context.catalogue.registry.filter(
    ({ row }) => category === undefined || row.category === category,
  );
  const after = cursor === undefined ? undefined : parseCursor(cursor);
  const rest = after === undefined ? inCategory : inCategory.filter((entry) => isAfter(toPosition(entry), after));
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return {
    registry: page.map((entry) => toDescriptor(entry, context.baseUrl())),
    total: inCategory.length,
    next_cursor: rest.length > page.length && last !== undefined ? toCursor(last) : null,
    ...staleness(context),
  };
}
