import { createHash } from 'node:crypto';
import type pg from 'pg';
import { ACTOR_COUNT, KEY_COUNT, RETIRED_KEY } from './fill.js';

/** A kind of question: paths that differ from request to request, so that no answer is another's. */
export interface Question {
  readonly name: string;
  /** How long, in ms, its 99th of a hundred may take; undefined for one that is only there to compare with. */
  readonly limitMs: number | undefined;
  readonly toPath: (turn: number) => string;
  /** How every answer begins. */
  readonly bodyStart: string;
}

/** Receipts that are asked about, spread over the ledger. */
export interface Sample {
  readonly ids: readonly string[];
  readonly traces: readonly string[];
  /** A moment in the middle of the ledger's time, and one a month later; RFC 3339. */
  readonly from: string;
  readonly to: string;
}

const LIST_MS = 50;
const CONFIRM_MS = 5;
const IDS_MAX = 2_000;
const SHARE_PERCENT = 1;

/** Draws receipts from all over the table. */
export async function drawSample(client: pg.Client, untilMs: number): Promise<Sample> {
  const { rows: drawn } = await client.query<{ id: string; trace: string }>(
    'select id, trace from receipt tablesample bernoulli($1) order by random() limit $2',
    [SHARE_PERCENT, IDS_MAX],
  );
  const from = untilMs - 180 * 86_400_000;
  return {
    ids: drawn.map(({ id }) => id),
    traces: drawn.map(({ trace }) => trace),
    from: new Date(from).toISOString(),
    to: new Date(from + 30 * 86_400_000).toISOString(),
  };
}

const actor = (number: number): string => `cap:${createHash('md5').update(String(number)).digest('hex')}`;

/** Everything that is asked. Every third question about a key is about the one that is called most. */
export function toQuestions({ ids, traces, from, to }: Sample): Question[] {
  const anyKey = (turn: number) => `KEY_${turn % 3 === 0 ? 0 : (turn * 37) % KEY_COUNT}`;
  const anyActor = (turn: number) => actor((turn * 41) % ACTOR_COUNT);
  const list = (name: string, toQuery: (turn: number) => string): Question => ({
    name,
    limitMs: LIST_MS,
    toPath: (turn) => `/api/invocations?limit=50${toQuery(turn)}`,
    bodyStart: '{"invocations":[',
  });
  const pick = <T>(all: readonly T[], turn: number) => all[turn % all.length] as T;
  return [
    { name: '(nothing: /livez)', limitMs: undefined, toPath: () => '/livez', bodyStart: '{' },
    {
      name: 'confirm',
      limitMs: CONFIRM_MS,
      toPath: (turn) => `/api/dispatch?confirm=${pick(ids, turn)}`,
      bodyStart: '{"confirmed":true',
    },
    {
      name: 'receipt page',
      limitMs: CONFIRM_MS,
      toPath: (turn) => `/receipt/${pick(ids, turn)}`,
      bodyStart: '<!doctype html>',
    },
    {
      name: 'receipt, whole',
      limitMs: LIST_MS,
      toPath: (turn) => `/api/dispatch?receipt=${pick(ids, turn)}`,
      bodyStart: '{"state":"finished"',
    },
    list('key', (turn) => `&key=${anyKey(turn)}`),
    list('key, no summary', (turn) => `&key=${anyKey(turn)}&summary=0`),
    list('key of the past', () => `&key=${RETIRED_KEY}`),
    list('no filter', () => ''),
    list('trace', (turn) => `&trace=${pick(traces, turn)}`),
    list('actor', (turn) => `&actor=${anyActor(turn)}`),
    list('actor=owner', () => '&actor=owner'),
    list('outcome=interrupted', () => '&outcome=interrupted'),
    list('material=false', () => '&material=false'),
    list('waste', () => '&waste=true'),
    list('key, outcome=interrupted', (turn) => `&key=${anyKey(turn)}&outcome=interrupted`),
    list('key, material=false', (turn) => `&key=${anyKey(turn)}&material=false`),
    list('key, waste', (turn) => `&key=${anyKey(turn)}&waste=true`),
    list('actor, outcome=failed', (turn) => `&actor=${anyActor(turn)}&outcome=failed`),
    list('key, actor', (turn) => `&key=${anyKey(turn)}&actor=${anyActor(turn)}`),
    list('key of the past, actor', (turn) => `&key=${RETIRED_KEY}&actor=${anyActor(turn)}`),
    list('a month of a key', (turn) => `&key=${anyKey(turn)}&from=${from}&to=${to}`),
    list('a month, material=false', () => `&material=false&from=${from}&to=${to}`),
    list(
      'all filters',
      (turn) => `&key=${anyKey(turn)}&actor=${anyActor(turn)}&outcome=failed&material=false&waste=true`,
    ),
  ];
}
