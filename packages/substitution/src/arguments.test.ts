import { describe, expect, test } from 'vitest';
import { splitBody } from './arguments.js';

describe('splitBody', () => {
  test.each([
    ['', []],
    ['a', ['a']],
    ['a|b||c', ['a', 'b', '', 'c']],
    ['|', ['', '']],
    [' a | b ', [' a ', ' b ']],
    ['{"a":"x|y"}', ['{"a":"x|y"}']],
    [' [1,"|"] \n', [' [1,"|"] \n']],
    ['[1]|[2]', ['[1]', '[2]']],
    ['{"a":1}|x', ['{"a":1}', 'x']],
    ['{broken|x', ['{broken', 'x']],
    ['"a|b"', ['"a', 'b"']],
    ['1|2', ['1', '2']],
    ['\u{feff}[1,"|"]', ['\u{feff}[1,"', '"]']],
  ])('splits %j into %j', (body, expected) => {
    expect(splitBody(body)).toEqual(expected);
  });
});
