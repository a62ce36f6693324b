import { type RowWrite, rowWriteSchema } from '@rowcall/protocol';

/** What the upstream reads of a body. */
export interface ItemBody {
  readonly note: string;
}

/** What a call asks for. */
const ITEM_ID = 'item-17';
const LIMIT = 25;
const NOTE = 'as it was last week';

/** The request that the upstream gets, whoever sends it. */
export const ITEM_REQUEST = { path: `/v1/items/${ITEM_ID}?limit=${LIMIT}`, body: { note: NOTE } } as const;

/** The body of the call that leads to it: the arguments of the row. */
export const ITEM_CALL = `${ITEM_ID}|${LIMIT}|${NOTE}`;

/** What the upstream answers: as small as many answers are. */
export const toItem = (note: string) => ({
  id: ITEM_ID,
  name: 'Pallet scale, 1.5 t',
  state: 'in use',
  place: { site: 'harbour', shelf: 'B-14' },
  updated_at: '2026-03-01T08:15:00Z',
  tags: ['scale', 'checked', 'leased'],
  note,
});

/** A row that makes the request. It reads, though it sends a body. */
export const toItemRow = (upstreamUrl: string): RowWrite =>
  rowWriteSchema.parse({
    key: 'BENCH_FIND_ITEM',
    type: 'http',
    target: `POST ${upstreamUrl}/v1/items/$1?limit=$2`,
    headers: { Accept: 'application/json' },
    content: [
      '# WHAT: Finds an item and what is known of it.',
      '# WHEN_TO_USE: somebody asks where an item is.',
      '# ARGS: $1=id (of the item) | $2=limit (how many notes, 1 to 100) | $3=note (what to look for)',
      `# EX: ${ITEM_CALL}`,
      '# OUTPUT: {id, name, state, place, updated_at, tags, note}',
      '{"note":"$3"}',
    ].join('\n'),
    examples: [ITEM_CALL],
    effect: 'read',
  });
