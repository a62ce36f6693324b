import { type EchoedRequest, type EchoUpstream, startEchoUpstream } from '@rowcall/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../testing/test-api.js';

let api: TestApi;
let upstream: EchoUpstream;

const OPTIONAL = Array.from({ length: 30 }, (_, index) => `p${index + 1}`);
const OPTIONAL_SCHEMA = {
  type: 'object',
  properties: Object.fromEntries(OPTIONAL.map((name) => [name, { type: ['string', 'integer', 'array'] }])),
  additionalProperties: false,
};
const BOOKING_SCHEMA = {
  type: 'object',
  'x-arg-order': ['city', 'nights', 'guests', 'price', 'breakfast', 'board', 'mail', 'from', 'tags', 'room', 'code'],
  required: ['city', 'nights'],
  properties: {
    city: { type: 'string', minLength: 2, maxLength: 20 },
    nights: { type: 'integer', minimum: 1, maximum: 30 },
    guests: { type: 'integer', multipleOf: 2 },
    price: { type: 'number', exclusiveMinimum: 0 },
    breakfast: { type: 'boolean' },
    board: { enum: ['none', 'half', 'full'] },
    mail: { type: 'string', format: 'email' },
    from: { type: 'string', format: 'date' },
    tags: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 3, uniqueItems: true },
    room: {
      type: 'object',
      required: ['beds'],
      properties: { beds: { type: 'integer' } },
      additionalProperties: false,
    },
    code: { type: 'string', pattern: '^[A-Z]{3}$' },
  },
  additionalProperties: false,
};

beforeAll(async () => {
  api = await startTestApi({ credentials: { BOOK_TOKEN: 'tok-77d0e1a4c2' } });
  upstream = await startEchoUpstream();
  const path = `GET ${upstream.url}/list`;
  await addRow('LIST', { target: `${path}{?${OPTIONAL}}`, input_schema: OPTIONAL_SCHEMA });
  await addRow('LIST_EACH', {
    target: `${path}{?${OPTIONAL.map((name) => `${name}*`)}}`,
    input_schema: OPTIONAL_SCHEMA,
  });
  await addRow('LIST_MORE', { target: `${path}?fixed=1{&${OPTIONAL}}`, input_schema: OPTIONAL_SCHEMA });
  await addRow('SEND', {
    target: `POST ${upstream.url}/send`,
    content: '# WHAT: Sends.\n{"fixed":1,$ARGS}',
    input_schema: OPTIONAL_SCHEMA,
  });
  const content = '# WHAT: Books.\n{$ARGS}';
  await addRow('BOOK', {
    target: `POST ${upstream.url}/book`,
    content,
    input_schema: BOOKING_SCHEMA,
    examples: ['Oslo|3'],
  });
  // No example is given: that of a refusal is derived from the schema.
  const bare = { auth: 'bearer:BOOK_TOKEN', examples: [] };
  await addRow('BOOK_BARE', { target: `POST ${upstream.url}/book`, content, input_schema: BOOKING_SCHEMA, ...bare });
});
afterAll(async () => {
  await api.close();
  await upstream.close();
});

async function addRow(key: string, row: object): Promise<void> {
  const fixed = { key, type: 'http', content: '# WHAT: Lists.', examples: ['a'] };
  const answer = await api.owner.post('/api/directory', { ...fixed, ...row });
  expect(answer, answer.text).toMatchObject({ status: 201 });
}

async function arriveOf(body: object): Promise<EchoedRequest | undefined> {
  expect(await api.owner.invoke(body)).toMatchObject({ status: 200 });
  return upstream.requests.at(-1);
}

describe('of 30 optional parameters, a call by name with two sends these two', () => {
  it.each([
    ['LIST', { p7: 'a b', p23: 'é&x' }, '/list?p7=a%20b&p23=%C3%A9%26x'],
    ['LIST', { p23: 0, p7: '' }, '/list?p7=&p23=0'],
    ['LIST', {}, '/list'],
    ['LIST_EACH', { p30: ['x', 'y'], p1: 5 }, '/list?p1=5&p30=x&p30=y'],
    ['LIST_MORE', { p2: 'a', p29: 'b' }, '/list?fixed=1&p2=a&p29=b'],
    ['LIST_MORE', {}, '/list?fixed=1'],
  ])('in the URL of %s with %j', async (key, args, url) => {
    expect((await arriveOf({ key, args }))?.url).toBe(url);
  });

  it('in a body that takes all arguments', async () => {
    const arrived = await arriveOf({ key: 'SEND', args: { p7: 'a', p23: ['b'] } });
    expect(arrived?.body).toBe('{"fixed":1,"p7":"a","p23":["b"]}');
  });
});

/** What is sent beside the key, and the argument, the rule and the words that the refusal must have for it. */
const WRONG: readonly (readonly [input: object, pointer: string, rule: string, message: string])[] = [
  [{ body: 'Oslo' }, '/nights', 'required', 'is required'],
  [{ body: '|3' }, '/city', 'minLength', 'must NOT have fewer than 2 characters'],
  [{ body: 'Oslo|three' }, '/nights', 'type', 'must be integer'],
  [{ body: 'Oslo|2.5' }, '/nights', 'type', 'must be integer'],
  [{ body: 'Oslo|0' }, '/nights', 'minimum', 'must be >= 1'],
  [{ body: 'Oslo|31' }, '/nights', 'maximum', 'must be <= 30'],
  [{ body: 'Llanfairpwllgwyngyllgogery|3' }, '/city', 'maxLength', 'must NOT have more than 20 characters'],
  [{ body: 'Oslo|3|3' }, '/guests', 'multipleOf', 'must be multiple of 2'],
  [{ body: 'Oslo|3|2|0' }, '/price', 'exclusiveMinimum', 'must be > 0'],
  [{ body: 'Oslo|3|2|10|maybe' }, '/breakfast', 'type', 'must be boolean'],
  [{ body: 'Oslo|3|2|10|true|some' }, '/board', 'enum', 'must be one of "none", "half", "full"'],
  [
    { body: 'Oslo|3|||||||||ABC|more' },
    '',
    'x-arg-order',
    'are 12 in the body, but the row takes 11 by position (city, nights, guests, price, breakfast, board, mail, from, tags, room, code): send args, an object, where a value holds |',
  ],
  [{ args: { nights: 3 } }, '/city', 'required', 'is required'],
  [{ args: { city: 'Oslo', nights: '3' } }, '/nights', 'type', 'must be integer'],
  [{ args: { city: 'Oslo', nights: null } }, '/nights', 'type', 'must be integer'],
  [{ args: { city: 'Oslo', nights: 3, mail: 'nobody' } }, '/mail', 'format', 'must match format "email"'],
  [{ args: { city: 'Oslo', nights: 3, from: '2026-02-30' } }, '/from', 'format', 'must match format "date"'],
  [{ args: { city: 'Oslo', nights: 3, tags: [] } }, '/tags', 'minItems', 'must NOT have fewer than 1 items'],
  [{ args: { city: 'Oslo', nights: 3, tags: ['a', 'a'] } }, '/tags', 'uniqueItems', 'must not have equal elements'],
  [{ args: { city: 'Oslo', nights: 3, tags: ['a', 7] } }, '/tags/1', 'type', 'must be string'],
  [{ args: { city: 'Oslo', nights: 3, room: {} } }, '/room/beds', 'required', 'is required'],
  [
    { args: { city: 'Oslo', nights: 3, room: { beds: 1, view: 'sea' } } },
    '/room/view',
    'additionalProperties',
    'is not an argument of this row',
  ],
  [{ args: { city: 'Oslo', nights: 3, code: 'ab1' } }, '/code', 'pattern', 'must match pattern "^[A-Z]{3}$"'],
  [
    { args: { city: 'Oslo', nights: 3, nigths: 4 } },
    '/nigths',
    'additionalProperties',
    'is not an argument of this row',
  ],
];

interface Refused {
  readonly detail: string;
  readonly errors: readonly object[];
  readonly example: object;
}

describe.each(['BOOK', 'BOOK_BARE'])('wrong arguments of %s', (key) => {
  it.each(WRONG)(
    '%j are refused with %j, the rule %s, and a call that works',
    async (input, pointer, rule, message) => {
      const before = upstream.requests.length;
      const answer = await api.owner.invoke({ key, ...input });
      expect(answer.json()).toMatchObject({ status: 400, error: 'invalid_args' });
      expect(upstream.requests).toHaveLength(before);
      const { detail, errors, example } = answer.json<Refused>();
      expect(errors).toEqual([{ pointer, rule, message }]);
      expect(detail).toBe(`the arguments do not fit ${key}: ${pointer || 'arguments'} ${message}`);
      expect((await api.owner.invoke(example)).json()).toMatchObject({ ok: true, result: { path: '/book' } });
      expect(upstream.requests).toHaveLength(before + 1);
    },
  );
});
