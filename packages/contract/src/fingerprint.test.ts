import { createHash } from 'node:crypto';
import type { Row } from '@rowcall/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fingerprint } from './fingerprint.js';

const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

const NOW: Row = {
  key: 'NOW',
  type: 'fn',
  target: 'NOW',
  auth: null,
  content: '# WHAT: Tells the time\n# ARGS: $1=form\n# EX: [NOW]iso[/NOW]\n["$1"]',
  category: 'time',
  allowed_categories: [],
  seq: 0,
  enabled: true,
  planner_visible: true,
  planner_rank: 100,
  input_schema: null,
  examples: [''],
  sensitive: false,
  runner: null,
  includes: [],
  effect: null,
  pinned_for: [],
  demoted: false,
  headers: null,
  limits: null,
  source: 'seed',
  version: 1,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
};
const of = (row: Row) => fingerprint(row, { includes: {} }, sha256);

test('hashes exactly the canonical text of the definition', () => {
  expect(fingerprint(NOW, { includes: {}, functionEffect: 'read' }, (text) => text)).toBe(
    '{"args":"$1=form","auth":null,"effect":"read","headers":null,"includes":[],"input_schema":null,"key":"NOW",' +
      '"limits":{"hosts":[],"max_body_bytes":null,"max_response_bytes":null,"timeout_ms":null},' +
      '"payload":"[\\"$1\\"]","runner":null,"sensitive":false,"steps":[],"target":"NOW","type":"fn","what":"Tells the time"}',
  );
});

const AGENT: Row = {
  ...NOW,
  key: 'CLERK',
  type: 'agent',
  target: 'some-model',
  auth: 'bearer:MODEL_KEY',
  content: '# WHAT: Answers letters – fjärilsblå 🦋\n# Role\nYou answer letters.',
  includes: ['TONE', 'HOUSE'],
  limits: { timeout_ms: 1000, rate_per_minute: 5 },
};

test('known vectors', () => {
  expect(fingerprint(NOW, { includes: {}, functionEffect: 'read' }, sha256)).toBe(
    '310e4ab2f0363165d116885c2539f17c19ab1661fb92849d36795346d95e1791',
  );
  expect(fingerprint(AGENT, { includes: { TONE: 'aa', HOUSE: 'bb' } }, sha256)).toBe(
    'b15cde6eba9f83145b67808667cae6db8047a9af92fe3fc5ce1a936b77ea2e57',
  );
});

const CHANGES: Record<keyof Row, [Partial<Row>, boolean]> = {
  key: [{ key: 'NOW_2' }, true],
  type: [{ type: 'flow' }, true],
  target: [{ target: 'ECHO' }, true],
  auth: [{ auth: 'bearer:A' }, true],
  content: [{ content: `${NOW.content} ` }, true],
  headers: [{ headers: { accept: 'text/plain' } }, true],
  input_schema: [{ input_schema: {} }, true],
  effect: [{ effect: 'destructive' }, true],
  sensitive: [{ sensitive: true }, true],
  runner: [{ runner: 'mac' }, true],
  includes: [{ includes: ['TONE'] }, true],
  limits: [{ limits: { timeout_ms: 1 } }, true],
  category: [{ category: 'x' }, false],
  allowed_categories: [{ allowed_categories: ['x'] }, false],
  seq: [{ seq: 1 }, false],
  enabled: [{ enabled: false }, false],
  planner_visible: [{ planner_visible: false }, false],
  planner_rank: [{ planner_rank: 1 }, false],
  examples: [{ examples: ['x'] }, false],
  pinned_for: [{ pinned_for: ['x'] }, false],
  demoted: [{ demoted: true }, false],
  source: [{ source: 'manual' }, false],
  version: [{ version: 2 }, false],
  created_at: [{ created_at: '2026-02-01T00:00:00Z' }, false],
  updated_at: [{ updated_at: '2026-02-01T00:00:00Z' }, false],
};

test.each(Object.entries(CHANGES))(
  'a change of %s alone changes it, or not, as promised',
  (_column, [change, changes]) => {
    expect(of({ ...NOW, ...change }) !== of(NOW)).toBe(changes);
  },
);

test.each<[string, Partial<Row>, boolean]>([
  ['WHAT', { content: NOW.content.replace('Tells', 'Says') }, true],
  ['ARGS', { content: NOW.content.replace('$1=form', '$1=format') }, true],
  ['EX', { content: NOW.content.replace('iso', 'zone') }, false],
  ['a new label', { content: `# WHEN_TO_USE: often\n${NOW.content}` }, false],
  ['the line ends of the docstring', { content: NOW.content.replaceAll('\n', '\r\n') }, false],
  ['the effect that is derived anyway', { effect: 'write' }, false],
  ['an empty auth', { auth: '' }, false],
  ['no headers', { headers: {} }, false],
  ['rate_per_minute', { limits: { rate_per_minute: 1 } }, false],
  ['max_response_bytes', { limits: { max_response_bytes: 1 } }, true],
  ['max_body_bytes', { limits: { max_body_bytes: 1 } }, true],
  ['hosts', { limits: { hosts: ['a.example'] } }, true],
])('%s: changed %j', (_name, change, changes) => {
  expect(of({ ...NOW, ...change }) !== of(NOW)).toBe(changes);
});

test('changes with an included row, with the order of includes, with the steps, and with the declared effect', () => {
  const row = { ...AGENT, includes: ['TONE', 'HOUSE'] };
  const includes = { TONE: 'a', HOUSE: 'b' };
  const all = [
    fingerprint(row, { includes }, sha256),
    fingerprint(row, { includes: { ...includes, TONE: 'c' } }, sha256),
    fingerprint(row, { includes: { HOUSE: 'b' } }, sha256),
    fingerprint({ ...row, includes: ['HOUSE', 'TONE'] }, { includes }, sha256),
    fingerprint(row, { includes, steps: ['a'] }, sha256),
    fingerprint(row, { includes, steps: ['a', 'b'] }, sha256),
    fingerprint(NOW, { includes, functionEffect: 'read' }, sha256),
    fingerprint(NOW, { includes, functionEffect: 'destructive' }, sha256),
  ];
  expect(new Set(all).size).toBe(all.length);
});

test('two payloads never share a fingerprint', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      fc.pre(a !== b && !a.startsWith('#') && !b.startsWith('#'));
      expect(of({ ...NOW, content: a })).not.toBe(of({ ...NOW, content: b }));
    }),
  );
});
