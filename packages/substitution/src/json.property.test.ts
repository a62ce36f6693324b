// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax under test
import type { JsonValue } from '@rowcall/protocol';
import fc from 'fast-check';
import { describe, test, vi } from 'vitest';
import { parseJsonTemplate, renderJsonTemplate } from './json-template.js';
import { getTemplate, makeArguments, request } from './testing/compile.js';
import { type Case, hostileCase, hostileJson, hostileText, toFilled } from './testing/hostile.js';
import { attempt, check, hole, pieces, requireEqual, toPlain, toTemplate } from './testing/property.js';

vi.setConfig({ testTimeout: 1_800_000 });

/** A generated JSON template: its text, and the value that it must render to; undefined when an argument is no JSON. */
interface Shape {
  readonly text: (args: Case) => string;
  readonly value: (args: Case) => JsonValue | undefined;
}

const scalar = fc.constantFrom<JsonValue>(null, true, 0, -1.5, 'x', 'é"\\\n').map<Shape>((value) => ({
  text: () => JSON.stringify(value),
  value: () => value,
}));
const spliced = pieces.map<Shape>((list) => ({
  text: (args) => `"${toTemplate(list, args)}"`,
  value: (args) => toPlain(list, args),
}));
const unquoted = hole.map<Shape>((index) => ({
  text: (args) => toFilled(args, index).source,
  value: (args) => {
    const { source, value } = toFilled(args, index);
    if (source.includes('7') || source.includes('none')) return undefined;
    if (!/^\$\{\d/.test(source)) return value;
    try {
      return JSON.parse(String(value));
    } catch {
      return undefined;
    }
  },
}));
const shape = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.oneof(
    { maxDepth: 3, depthSize: 'medium' },
    spliced,
    scalar,
    unquoted,
    fc.array(tie('shape'), { maxLength: 4 }).map<Shape>((items) => ({
      text: (args) => `[${items.map((item) => item.text(args)).join(' , ')}]`,
      value: (args) =>
        collect(
          items.map((item) => item.value(args)),
          (values) => values,
        ),
    })),
    fc
      .uniqueArray(fc.tuple(fc.constantFrom('a', 'b', '__proto__', 'constructor', '1', 'é"'), tie('shape')), {
        maxLength: 4,
        selector: ([name]) => name,
      })
      .map<Shape>((members) => ({
        text: (args) =>
          `{${members.map(([name, member]) => `${JSON.stringify(name)}: ${member.text(args)}`).join(',')}}`,
        value: (args) =>
          collect(
            members.map(([, member]) => member.value(args)),
            (values) => Object.fromEntries(members.map(([name], index) => [name, values[index] ?? null])),
          ),
      })),
  ),
})).shape;

function collect(
  values: ReadonlyArray<JsonValue | undefined>,
  build: (values: JsonValue[]) => JsonValue,
): JsonValue | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === values.length ? build(known) : undefined;
}

describe('JSON', () => {
  test('has the shape of its template, in a body and as arguments of a function', () => {
    check(
      fc.property(fc.array(shape, { maxLength: 4 }), hostileCase, (items, args) => {
        const payload = `[${items.map((item) => item.text(args)).join(',')}]`;
        const expected = collect(
          items.map((item) => item.value(args)),
          (values) => values,
        );
        const sent = attempt(() => JSON.parse(request({ payload }, args).body?.text ?? ''));
        const passed = attempt(() => renderJsonTemplate(getTemplate(parseJsonTemplate(payload)), args));
        // As text, since toEqual does not look at a member named __proto__.
        const wanted = JSON.stringify(expected === undefined ? { code: 'bad_json_value' } : { value: expected });
        requireEqual(JSON.stringify(sent), wanted);
        requireEqual(JSON.stringify(passed), wanted);
      }),
    );
  });

  test('members that arguments name never replace one another', () => {
    // Names that collide with those of the template, and with one another, do not come up by chance.
    const name = fc.oneof(hostileText, fc.constantFrom('fixed', 'a', 'ka', 'kfixed', 'k', ''));
    const names = fc.tuple(name, name, fc.dictionary(name, hostileJson, { maxKeys: 3 }));
    check(
      fc.property(names, ([first, second, named]) => {
        const args = makeArguments({ positional: [first, second], named });
        const result = attempt(() => request({ payload: '{"fixed":0,"$1":1,"k$2":2,$ARGS}' }, args).body?.text ?? '');
        const computed = [first, `k${second}`];
        const brought = Object.keys(named).filter((name) => name !== 'fixed');
        const all = ['fixed', ...computed, ...brought];
        if (new Set(all).size !== all.length) requireEqual(result, { code: 'bad_template_value' });
        else requireEqual(Object.keys(JSON.parse((result as { value: string }).value)).sort(), all.sort());
      }),
    );
  });
});
