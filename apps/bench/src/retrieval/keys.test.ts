import { KEY_PATTERN } from '@rowcall/protocol';
import { describe, expect, it } from 'vitest';
import { toKey, toKeys } from './keys.js';

describe('the key of a name', () => {
  it.each([
    ['getUserById', 'GET_USER_BY_ID'],
    ['HTTPServerStatus', 'HTTP_SERVER_STATUS'],
    ['weather.current-conditions', 'WEATHER_CURRENT_CONDITIONS'],
    ['PDF&URLTool', 'PDF_URL_TOOL'],
    ['2fa code', '_2FA_CODE'],
    ['', '_'],
    ['日本', '_'],
    [`${'word_'.repeat(12)}longer_end`, `${'WORD_'.repeat(11)}WORD`],
    ['x'.repeat(100), 'X'.repeat(64)],
  ])('%j is %s', (name, key) => {
    expect(toKey(name)).toBe(key);
    expect(key).toMatch(KEY_PATTERN);
  });
});

describe('the keys of several names', () => {
  const tools = [
    { id: '3', name: 'sendMail' },
    { id: '1', name: 'send_mail' },
    { id: '2', name: 'send.mail' },
    { id: '4', name: 'send_mail_2' },
  ];

  it('are all different, and the same whatever the order', () => {
    const keys = toKeys(tools);
    expect(Object.fromEntries(keys)).toEqual({
      1: 'SEND_MAIL',
      2: 'SEND_MAIL_2',
      3: 'SEND_MAIL_3',
      4: 'SEND_MAIL_2_2',
    });
    expect(toKeys([...tools].reverse())).toEqual(keys);
  });

  it('stay within a key’s length', () => {
    const long = ['1', '2'].map((id) => ({ id, name: 'x'.repeat(100) }));
    expect([...toKeys(long).values()]).toEqual(['X'.repeat(64), `${'X'.repeat(58)}_2`]);
  });
});
