import type { GrantScope } from '@rowcall/protocol';
import { describe, expect, it } from 'vitest';
import { covers, mayRead } from './covers.js';
import { makeGrant } from './testing/make.js';

const chainOf = (...scopes: GrantScope[]) => scopes.map((scope) => makeGrant({ terms: { scope } }));
const ROW = { key: 'GET_BOOK', category: 'books' };

describe('seeing a row', () => {
  it.each<[GrantScope[], boolean]>([
    [[], true],
    [['read'], true],
    [['act'], true],
    [[{ keys: ['GET_BOOK'] }], true],
    [[{ keys: ['get_book'] }], false],
    [[{ prefixes: ['GET'] }, { categories: ['books'] }], true],
    [[{ categories: ['admin'] }, 'act'], false],
    [['act', { categories: ['admin'] }], false],
  ])('with the scopes %j: %s', (scopes, seen) => {
    expect(covers(chainOf(...scopes), ROW)).toBe(seen);
  });
});

describe('reading what others did', () => {
  it.each<[GrantScope[], boolean]>([
    [[], true],
    [['read'], true],
    [['read', 'read'], true],
    [['act'], false],
    [['act', 'read'], false],
    [[{ keys: ['GET_BOOK'] }], false],
  ])('with the scopes %j: %s', (scopes, may) => {
    expect(mayRead(chainOf(...scopes))).toBe(may);
  });
});
