import type { JsonValue } from '@rowcall/protocol';
import { describe, expect, test } from 'vitest';
import { Parsing } from './parsing.js';
import { encodeReserved } from './percent.js';
import { scanTarget } from './target-scan.js';
import rfc from './testdata/rfc6570.json' with { type: 'json' };
import cases from './testdata/uri-template-cases.json' with { type: 'json' };
import { expandExpression } from './uri-template.js';

/** Expands a URI template that holds no `$`. @returns undefined when it is not one */
function expand(template: string, variables: Readonly<Record<string, JsonValue>>): string | undefined {
  const parsing = new Parsing();
  const parts = scanTarget(parsing.open('target', template), 0);
  const parsed = parsing.finish(() => parts);
  if (!parsed.ok) return undefined;
  return parsed.value
    .map((part) => {
      if (part.kind === 'literal') return encodeReserved(part.text);
      if (part.kind === 'hole') throw new Error(`unexpected hole ${part.source}`);
      return expandExpression(part, { lookup: (name) => variables[name], encodeReserved });
    })
    .join('');
}

const { variables, ...sections } = rfc;

describe.each(Object.entries(sections))('%s', (_section, examples) => {
  test.each(examples)('%s expands to %s', (template, expected) => {
    expect(expand(template ?? '', variables)).toBe(expected);
  });
});

describe('beyond the examples of the RFC', () => {
  test.each(cases.valid)('%s expands to %s', (template, expected) => {
    expect(expand(template ?? '', cases.variables)).toBe(expected);
  });

  test.each(cases.invalid)('refuses %s', (template) => {
    expect(expand(template, cases.variables)).toBeUndefined();
  });

  test.each(cases.failing)('refuses to cut a list or object with %s', (template) => {
    expect(() => expand(template, cases.variables)).toThrow(expect.objectContaining({ code: 'bad_template_value' }));
  });

  test('refuses text that has no UTF-8 form, also inside lists and member names', () => {
    for (const value of ['\ud800', ['\udc00'], { '\ud800': '1' }]) {
      expect(() => expand('{?x*}', { x: value })).toThrow(expect.objectContaining({ code: 'bad_template_value' }));
    }
  });
});
