import { expect, test } from 'vitest';
import { Rendering } from './rendering.js';
import { renderTarget } from './target-render.js';
import type { TargetTemplate } from './target-template.js';
import { makeArguments } from './testing/compile.js';

const USED = { positional: [], rest: null, names: [], previous: false, all: false };

function render(change: Partial<TargetTemplate>): string {
  const template: TargetTemplate = {
    method: 'GET',
    origin: { kind: 'fixed', origin: 'https://a.example' },
    path: [],
    query: [],
    openEnd: false,
    ...change,
  };
  return renderTarget(template, new Rendering(makeArguments(), USED));
}

// What a parsed template cannot hold: the check behind the escaping must stop it by itself.
test.each<Partial<TargetTemplate>>([
  { path: [{ kind: 'literal', text: '/a/../b' }] },
  { path: [{ kind: 'literal', text: '/a/%2e%2e/b' }] },
  { path: [{ kind: 'literal', text: '/a\\b' }] },
  { path: [{ kind: 'literal', text: '/a\tb' }] },
  { path: [{ kind: 'literal', text: '/a#b' }] },
  { query: [{ kind: 'literal', text: 'a#b', offset: 0 }] },
  { origin: { kind: 'fixed', origin: 'https://a.example@evil.example' } },
  { origin: { kind: 'fixed', origin: 'https://a.example\\.evil.example' } },
  { origin: { kind: 'fixed', origin: 'https://' }, path: [{ kind: 'literal', text: '/evil.example/' }] },
])('the rendered URL is parsed again and refused when it is not the one meant: %j', (change) => {
  expect(render({})).toBe('https://a.example/');
  expect(() => render(change)).toThrow(
    expect.objectContaining({
      code: 'bad_template_value',
      message: 'the arguments would change the origin or the path of the target',
    }),
  );
});
