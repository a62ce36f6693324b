import type { JsonValue } from '@rowcall/protocol';
import { expect, test } from 'vitest';
import { toCanonicalJson } from './canonical-json.js';

// The first three are the examples of RFC 8785, sections 3.2.2, 3.2.3 and appendix B.
test.each<[JsonValue, string]>([
  [
    {
      numbers: JSON.parse('[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001]') as JsonValue,
      string: '\u20ac$\u000f\nA\'B"\\\\"/',
      literals: [null, true, false],
    },
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  ],
  [
    { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 },
    '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}',
  ],
  [[-0, 5e-324, 9007199254740992], '[0,5e-324,9007199254740992]'],
  [{ toJSON: { b: 1, a: 2 } }, '{"toJSON":{"a":2,"b":1}}'],
  [JSON.parse('{"b":{},"__proto__":[]}') as JsonValue, '{"__proto__":[],"b":{}}'],
])('writes %j canonically', (value, text) => {
  expect(toCanonicalJson(value)).toBe(text);
});
