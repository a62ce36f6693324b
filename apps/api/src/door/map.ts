import { AppError } from '@rowcall/errors';
import type { DoorContext } from '../context.js';
import { staleness } from './contract.js';
import { toDescriptor } from './descriptor.js';

/** Rows of a category that its map lists; the registry pages through the rest. */
const CHILDREN_MAX = 100;
const UNCATEGORISED = '(none)';

/** Rows per category, by name. */
export function countCategories({ catalogue }: DoorContext): { category: string; rows: number }[] {
  const counts = new Map<string, number>();
  for (const { row } of catalogue.registry) counts.set(row.category, (counts.get(row.category) ?? 0) + 1);
  return [...counts].map(([category, rows]) => ({ category, rows }));
}

/** A tree of small documents: the root names the categories, a category its rows, a row its contract. */
export function readMap(context: DoorContext, name: string) {
  return name === '1' ? readRoot(context) : readCategory(context, name);
}

const toMapUrl = (baseUrl: string, category: string): string =>
  `${baseUrl}/api/dispatch?map=${encodeURIComponent(category === '' ? UNCATEGORISED : category)}`;

function readRoot(context: DoorContext) {
  const baseUrl = context.baseUrl();
  return {
    map: 'root',
    counts: context.catalogue.counts,
    children: countCategories(context).map(({ category, rows }) => ({
      category: category === '' ? UNCATEGORISED : category,
      rows,
      map: toMapUrl(baseUrl, category),
    })),
    ...staleness(context),
  };
}

function readCategory(context: DoorContext, name: string) {
  const baseUrl = context.baseUrl();
  const category = name === UNCATEGORISED ? '' : name;
  const entries = context.catalogue.registry.filter(({ row }) => row.category === category);
  if (entries.length === 0) {
    throw new AppError('not_found', `no category is called ${JSON.stringify(name.slice(0, 128))}`, {
      fix: 'GET /api/dispatch?map=1 lists the categories',
    });
  }
  return {
    map: name,
    parent: `${baseUrl}/api/dispatch?map=1`,
    rows: entries.length,
    children: entries.slice(0, CHILDREN_MAX).map((entry) => toDescriptor(entry, baseUrl)),
    ...(entries.length > CHILDREN_MAX
      ? { more: `${baseUrl}/api/dispatch?registry=1&category=${encodeURIComponent(category)}` }
      : {}),
    ...staleness(context),
  };
}
