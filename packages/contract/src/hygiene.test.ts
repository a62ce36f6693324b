import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkHygiene, type HygieneColumns } from './hygiene.js';

const COMPLIANT: HygieneColumns = {
  type: 'http',
  target: 'GET https://api.example.com/cities/$1',
  auth: null,
  content: '# WHAT: Looks a city up\n',
  input_schema: null,
  examples: ['Oslo'],
  sensitive: false,
  headers: null,
  limits: null,
};
const SCHEMA = { required: ['n'], properties: { n: { type: 'integer' } } };

test('a row with description, example and sound template breaks no rule', () => {
  expect(checkHygiene(COMPLIANT)).toEqual([]);
});

test.each<[string, Partial<HygieneColumns>]>([
  ['missing_description', { content: '' }],
  ['missing_description', { content: '# WHEN_TO_USE: often\n' }],
  ['missing_description', { type: 'agent', target: 'm', content: '# Role\nYou look cities up' }],
  ['high_risk_missing_schema', { sensitive: true }],
  ['keyless_missing_examples', { examples: [] }],
  ['keyless_missing_examples', { examples: [], auth: ' ' }],
  ['bad_input_schema', { input_schema: { properties: { n: { type: 'int' } } } }],
  ['bad_input_schema', { input_schema: { $ref: 'https://example.com/schema' } }],
  ['bad_examples', { input_schema: SCHEMA, examples: ['1', 'x'] }],
  ['bad_examples', { input_schema: SCHEMA, examples: [], content: '# WHAT: a\n# EX: [A]x[/A]\n' }],
  ['bad_template', { target: 'GET https://$1/x' }],
  ['bad_template', { target: 'GET https://$$1/x' }],
  ['bad_template', { content: '# WHAT: a\n{"a": $1', target: 'POST https://a.example/' }],
  ['bad_template', { headers: { 'X-A': 'a\nb' } }],
  ['bad_template', { type: 'fn', target: 'ECHO', content: '# WHAT: a\n{"a": 1}' }],
  ['bad_template', { type: 'fn', target: 'ECHO', content: '# WHAT: a\n["$1"' }],
  ['missing_target', { target: ' ' }],
  ['missing_target', { type: 'fn', target: '' }],
  ['missing_target', { type: 'agent', target: '' }],
  ['bad_auth', { auth: 'bearer:sk-live-1' }],
  ['bad_auth', { auth: 'bearer:ROWCALL_OWNER_KEY' }],
])('%s refuses %j', (code, change) => {
  const violations = checkHygiene({ ...COMPLIANT, ...change });
  expect(violations.map((violation) => violation.code)).toEqual([code]);
  for (const { message, fix } of violations) {
    expect(message).not.toBe('');
    expect(fix).not.toBe('');
  }
});

test.each<[string, Partial<HygieneColumns>]>([
  ['an EX line is an example', { examples: [], content: '# WHAT: a\n# EX: [A]Oslo[/A]\n' }],
  ['an auth stands for an example', { examples: [], auth: 'bearer:CITY_TOKEN' }],
  ['a sensitive row with a schema', { sensitive: true, input_schema: SCHEMA, examples: ['1'] }],
  ['an example may be the JSON object of arguments', { input_schema: SCHEMA, examples: ['{"n":1}'] }],
  ['a host that limits allow', { target: 'GET $$1/x', limits: { hosts: ['a.example'] } }],
  ['an fn row without payload', { type: 'fn', target: 'ECHO', content: '# WHAT: a\n' }],
  ['an fn row with a payload', { type: 'fn', target: 'ECHO', content: '# WHAT: a\n["$1", {"b": $2}]' }],
  ['a flow needs no target', { type: 'flow', target: '', content: '# WHAT: a\nNOW: iso' }],
])('accepts: %s', (_name, change) => {
  expect(checkHygiene({ ...COMPLIANT, ...change })).toEqual([]);
});

test('lists every violation at once', () => {
  const codes = checkHygiene({
    type: 'http',
    target: '',
    auth: 'nonsense',
    content: '',
    input_schema: { type: 'array' },
    examples: [],
    sensitive: true,
    headers: null,
    limits: null,
  }).map(({ code }) => code);
  expect(codes).toEqual(['missing_description', 'bad_input_schema', 'missing_target', 'bad_auth']);
});

test('a template violation shows the place with a caret', () => {
  const [violation] = checkHygiene({ ...COMPLIANT, type: 'fn', target: 'ECHO', content: '# WHAT: a\n["$1" "b"]' });
  expect(violation?.message).toMatch(/^payload, line 1, column 7: .*\n\["\$1" "b"\]\n {6}\^$/s);
});

test('never throws, whatever a row holds', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('fn', 'http', 'agent', 'flow' as const),
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'binary' }),
      fc.string(),
      fc.dictionary(fc.string(), fc.jsonValue()),
      (type, target, content, auth, schema) => {
        const row = {
          ...COMPLIANT,
          type,
          target,
          content: `# WHAT: a\n${content}`,
          auth,
          input_schema: schema as never,
        };
        expect(Array.isArray(checkHygiene(row))).toBe(true);
      },
    ),
    { numRuns: 300 },
  );
});
