import type { JsonObject, Row } from '@rowcall/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildContract } from './build-contract.js';
import { contractSchema } from './contract.js';
import { contractToMarkdown } from './contract-markdown.js';
import { contractToSkill } from './contract-skill.js';

const ROW: Row = {
  key: 'NOW',
  type: 'fn',
  target: 'NOW',
  auth: null,
  content: '# WHAT: Tells the time\n# WHEN_TO_USE: someone asks the time\n# ARGS: $1=form (iso or zone) | $2+=rest\n',
  category: 'time',
  allowed_categories: [],
  seq: 0,
  enabled: true,
  planner_visible: true,
  planner_rank: 100,
  input_schema: null,
  examples: ['iso'],
  sensitive: false,
  runner: null,
  includes: [],
  effect: null,
  pinned_for: [],
  demoted: false,
  headers: null,
  limits: null,
  source: 'seed',
  version: 3,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
};
const OPTIONS = { fingerprint: 'f'.repeat(64), effect: 'read', baseUrl: 'http://127.0.0.1:8080' } as const;
const bytes = (text: string) => Buffer.byteLength(text, 'utf8');

test('says what a caller needs to call the row, and no more', () => {
  const contract = buildContract(ROW, OPTIONS);
  expect(contract).toEqual({
    key: 'NOW',
    type: 'fn',
    what: 'Tells the time',
    when_to_use: 'someone asks the time',
    arguments: {
      positions: [
        { position: 1, name: 'form', note: 'iso or zone' },
        { position: 2, name: 'rest', open_ended: true },
      ],
    },
    example: { key: 'NOW', body: 'iso' },
    effect: 'read',
    risk: 'low',
    call: { method: 'POST', path: '/api/dispatch', body: { key: 'NOW', body: '<form>|<rest>' } },
    outcome: '200 {ok, ran, trace, result, proof, cost, links} once it ran; ok false: error.code says why',
    errors: 'not run: 4xx or 5xx problem {status, error, detail, fix}',
    fingerprint: 'f'.repeat(64),
    version: 3,
    enabled: true,
    links: {
      contract_markdown: 'http://127.0.0.1:8080/api/dispatch?key=NOW&format=markdown',
      skill: 'http://127.0.0.1:8080/api/dispatch?key=NOW&format=skill',
      map: 'http://127.0.0.1:8080/api/dispatch?map=1',
    },
  });
  expect(contractSchema.parse(contract)).toEqual(contract);
});

const SCHEMA: JsonObject = {
  type: 'object',
  required: ['owner', 'count'],
  properties: { owner: { type: 'string' }, count: { type: ['integer', 'null'] } },
};

test('a row with a schema shows it, the types of the call, and an example by name', () => {
  const contract = buildContract({ ...ROW, input_schema: SCHEMA, examples: [] }, OPTIONS);
  expect(contract.arguments).toEqual({
    positions: [
      { position: 1, name: 'owner' },
      { position: 2, name: 'count' },
    ],
    schema: SCHEMA,
  });
  expect(contract.call.body).toEqual({ key: 'NOW', args: { owner: '<string>', count: '<integer or null>' } });
  expect(contract.example).toEqual({ key: 'NOW', args: { owner: 'example', count: 1 } });
  expect(contractToMarkdown(contract)).toContain(JSON.stringify(SCHEMA));
});

test('passes over examples that are too long, and says so', () => {
  const contract = buildContract({ ...ROW, examples: ['x'.repeat(4_000), 'short'] }, OPTIONS);
  expect(contract.example).toEqual({ key: 'NOW', body: 'short' });
  const none = buildContract({ ...ROW, examples: ['x'.repeat(4_000)] }, OPTIONS);
  expect([none.example, none.truncated]).toEqual([null, true]);
});

test('a text that is cut ends in an ellipsis, and the contract says so', () => {
  const contract = buildContract({ ...ROW, content: `# WHAT: ${'word '.repeat(1_000)}` }, OPTIONS);
  expect(contract.what).toMatch(/^(word )+w?o?r?d?…$/);
  expect(contract.truncated).toBe(true);
  expect(bytes(contract.what)).toBeGreaterThan(200);
});

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 3_000 }),
  fc.string({ unit: 'grapheme', maxLength: 3_000 }),
  fc
    .tuple(
      fc.constantFrom(
        '👩‍👩‍👧‍👦',
        '"',
        '\\',
        '\u0001',
        '`',
        '*',
        '<b>',
        'é',
        '\n```\n# H\n',
        '\r# H\r',
        'x\r- item\r',
        '\u202e',
        '\ud800',
        'a',
        '|',
        '(',
      ),
      fc.integer({ min: 1, max: 3_000 }),
    )
    .map(([piece, count]) => piece.repeat(count)),
);
const hostileRow = fc
  .record({
    key: fc.constantFrom('A', 'Z'.repeat(64), '_'),
    what: hostile,
    when: hostile,
    args: hostile,
    note: hostile,
    example: hostile,
    version: fc.constantFrom(1, 2_147_483_647),
  })
  .map(({ key, what, when, args, note, example, version }): Row => {
    const line = (text: string) => text.replaceAll('\n', '\n# ');
    const content = `# WHAT: ${line(what)}\n# WHEN_TO_USE: ${line(when)}\n# ARGS: $1=${line(args)} (${line(note)}) | $2=b | $3+=${line(args)}`;
    return { ...ROW, key, content, examples: [example], version };
  });
const baseUrls = fc.constantFrom('http://a', `https://${'a'.repeat(91)}`, `https://${'ø'.repeat(5_000)}`);

test('is under 2,048 bytes as JSON and under 1,500 as Markdown for a row without a schema, whatever its texts', () => {
  fc.assert(
    fc.property(hostileRow, baseUrls, (row, baseUrl) => {
      const contract = buildContract(row, { ...OPTIONS, effect: 'destructive', baseUrl });
      expect(bytes(JSON.stringify(contract))).toBeLessThan(2_048);
      expect(bytes(contractToMarkdown(contract))).toBeLessThan(1_500);
      expect((contract.what + contract.when_to_use + JSON.stringify(contract.arguments)).isWellFormed()).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test('no text of a row adds a block to the Markdown', () => {
  const plain = contractToMarkdown(buildContract({ ...ROW, examples: ['x'] }, OPTIONS));
  const shape = (markdown: string) =>
    markdown
      .split(/[\r\n]/)
      .filter((line) => /^(#|```|---|\s*[-*+>]|\d+\.|<|\||={2})/.test(line))
      .map((line) => line.slice(0, 3));
  fc.assert(
    fc.property(hostileRow, (row) => {
      const markdown = contractToMarkdown(buildContract({ ...row, key: 'NOW' }, OPTIONS));
      const lines = shape(markdown).filter((line) => line !== '**W' && line !== '**A' && line !== '**F');
      expect(lines).toEqual(shape(plain).filter((line) => line !== '**W' && line !== '**A' && line !== '**F'));
    }),
    { numRuns: 200 },
  );
});

test('escapes the markup of a row, so that it is read as text', () => {
  const content = '# WHAT: a `b` **c** [d](https://e.example) <img src=x> \\ end\n# \n# ```\n# # heading\n';
  const markdown = contractToMarkdown(buildContract({ ...ROW, content }, OPTIONS));
  expect(markdown.split('\n')[2]).toBe(
    '**What:** a \\`b\\` \\*\\*c\\*\\* \\[d\\](https://e.example) \\<img src=x\\> \\\\ end \\`\\`\\` \\# heading',
  );
});

test('writes the Markdown of a small row', () => {
  expect(contractToMarkdown(buildContract(ROW, OPTIONS))).toBe(`# NOW

**What:** Tells the time

**When:** someone asks the time

**Arguments:** $1 form (iso or zone) | $2+ rest

Type fn, effect read, risk low, version 3.

\`POST /api/dispatch\`, for example:

\`\`\`json
{"key":"NOW","body":"iso"}
\`\`\`

**Answer:** 200 {ok, ran, trace, result, proof, cost, links} once it ran; ok false: error.code says why; not run: 4xx or 5xx problem {status, error, detail, fix}.

**Fingerprint:** \`${'f'.repeat(64)}\`
`);
});

test.each([
  ['NOW', 'now'],
  ['GITHUB__GET_REPO_', 'github-get-repo'],
  ['___', 'row'],
  ['A'.repeat(64), 'a'.repeat(64)],
])('names the skill of %s %s', (key, name) => {
  expect(contractToSkill(buildContract({ ...ROW, key }, OPTIONS)).split('\n')[1]).toBe(`name: ${name}`);
});

test('no text of a row ends, or adds to, the front matter of its skill', () => {
  fc.assert(
    fc.property(hostileRow, (row) => {
      const [open, name, description, close, blank, title] = contractToSkill(buildContract(row, OPTIONS)).split('\n');
      expect([open, close, blank, title]).toEqual(['---', '---', '', `# ${row.key}`]);
      expect(name).toMatch(/^name: [a-z0-9]+(-[a-z0-9]+)*$/);
      const text: unknown = JSON.parse(description?.replace('description: ', '') ?? '');
      expect(text).toMatch(/^[^<>\n]{1,1024}$/u);
    }),
    { numRuns: 200 },
  );
});
