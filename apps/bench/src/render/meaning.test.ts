import { describe, expect, it } from 'vitest';
import { ENGINES } from './engines.js';
import { readMeaning } from './meaning.js';
import { SHAPES } from './shapes.js';

describe('what engines render', () => {
  it.each(SHAPES.map((shape) => [shape.name, shape] as const))('means the same: %s', (_, shape) => {
    const calls = [0, 1, 99].map(shape.toArguments);
    const [ours = [], ...others] = ENGINES.map((engine) => {
      const render = engine.compile(shape, calls);
      return calls.map((_call, index) => readMeaning(render(index)));
    });
    for (const other of others) expect(other).toEqual(ours);
    expect(new Set(ours.map((meaning) => JSON.stringify(meaning))).size).toBe(calls.length);
    expect(JSON.stringify(ours)).not.toMatch(/[${}]\w*[{$]|undefined|%7B/);
  });

  it('is read with every part of a request', () => {
    const text = 'POST https://a.example/x?b=1&b=2\nAccept: */*\ncontent-type: application/json\n\n{"c":"d\\n\\ne"}';
    const expected = {
      method: 'POST',
      url: {
        path: 'https://a.example/x',
        query: [
          ['b', '1'],
          ['b', '2'],
        ],
      },
      headers: { accept: '*/*', 'content-type': 'application/json' },
      body: { c: 'd\n\ne' },
    };
    expect(readMeaning(text)).toEqual(expected);
  });

  it('differs where a value, a header or a field of the query differs', () => {
    const make = (query: string, header: string, body: string) =>
      readMeaning(`POST https://a.example/?${query}\nx: ${header}\ncontent-type: application/json\n\n${body}`);
    const one = make('a=1', '1', '{"a":1}');
    expect(make('a=1', '1', '{ "a": 1 }')).toEqual(one);
    for (const other of [make('a=2', '1', '{"a":1}'), make('a=1', '2', '{"a":1}'), make('a=1', '1', '{"a":"1"}')])
      expect(other).not.toEqual(one);
  });
});
