const VERBS = ['list', 'find', 'create', 'update', 'count', 'export', 'archive', 'compare', 'summarise', 'schedule'];
const OBJECTS = [
  'invoice',
  'customer',
  'shipment',
  'ticket',
  'sensor',
  'contract',
  'recipe',
  'flight',
  'lease',
  'patient',
];
const PLACES = ['warehouse', 'region', 'branch', 'fleet', 'ledger', 'clinic', 'campus', 'harbour', 'studio', 'depot'];

const pick = (words: readonly string[], index: number): string => words[index % words.length] ?? '';

/** What a row of a bench is about. */
export interface Subject {
  readonly verb: string;
  readonly object: string;
  readonly place: string;
}

/** Words for a row, other ones for each of a thousand indexes. */
export const toSubject = (index: number): Subject => ({
  verb: pick(VERBS, index),
  object: pick(OBJECTS, Math.floor(index / 10)),
  place: pick(PLACES, Math.floor(index / 100)),
});
