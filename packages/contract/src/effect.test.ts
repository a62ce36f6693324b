import { expect, test } from 'vitest';
import { deriveEffect, deriveRisk } from './effect.js';

test.each([
  ['http', 'GET https://a.example/', null, undefined, 'read'],
  ['http', 'HEAD https://a.example/', null, undefined, 'read'],
  ['http', 'https://a.example/', null, undefined, 'read'],
  ['http', '  https://a.example/ {?q}', null, undefined, 'read'],
  ['http', 'POST https://a.example/', null, undefined, 'write'],
  ['http', 'DELETE\thttps://a.example/', null, undefined, 'write'],
  ['http', '$1 https://a.example/', null, undefined, 'write'],
  ['http', 'GETX https://a.example/', null, undefined, 'write'],
  ['http', 'POST', null, undefined, 'write'],
  ['http', 'GET https://a.example/', 'destructive', undefined, 'destructive'],
  ['fn', 'NOW', null, 'read', 'read'],
  ['fn', 'NOW', null, undefined, 'write'],
  ['fn', 'NOW', 'write', 'read', 'write'],
  ['fn', 'DIR_DELETE', 'read', 'destructive', 'destructive'],
  ['fn', 'DIR_DELETE', 'read', undefined, 'read'],
  ['agent', 'some-model', null, undefined, 'write'],
  ['flow', '', null, 'read', 'write'],
] as const)(
  '%s %j with declared effect %s and function effect %s is %s',
  (type, target, effect, declared, expected) => {
    expect(deriveEffect({ type, target, effect }, declared)).toBe(expected);
  },
);

test('the risk is high exactly when the row is sensitive', () => {
  expect(deriveRisk({ sensitive: true })).toBe('high');
  expect(deriveRisk({ sensitive: false })).toBe('low');
});
