import { AppError } from '@rowcall/errors';
import { expect, test } from 'vitest';
import { parseAuth, toOauthPrefix } from './auth.js';

test.each([
  [null, { kind: 'none' }],
  ['', { kind: 'none' }],
  [' bearer:GITHUB_TOKEN ', { kind: 'bearer', env: 'GITHUB_TOKEN' }],
  ['basic:STRIPE_KEY', { kind: 'basic', userEnv: 'STRIPE_KEY', passwordEnv: null }],
  ['basic:A_USER:A_PASS', { kind: 'basic', userEnv: 'A_USER', passwordEnv: 'A_PASS' }],
  ['query:api_key=WEATHER_KEY', { kind: 'query', parameter: 'api_key', env: 'WEATHER_KEY' }],
  ['header:X-Api-Key=_KEY', { kind: 'header', name: 'X-Api-Key', env: '_KEY' }],
  ['oauth:crm.prod', { kind: 'oauth', label: 'crm.prod' }],
])('reads %j', (text, auth) => {
  expect(parseAuth(text)).toEqual(auth);
});

test.each([
  'bearer',
  'bearer:',
  'bearer:1TOKEN',
  'bearer:A TOKEN',
  'Bearer:TOKEN',
  'token:A',
  'A_TOKEN',
  'basic:A:B:C',
  'basic:A:',
  'query:A',
  'query:=A',
  'query:a&b=A',
  'header:X Y=A',
  'header:X\r\nY=A',
  'header:Host=A',
  'header:Transfer-Encoding=A',
  'oauth:',
  'oauth:a/b',
  'oauth:rowcall',
  'oauth:Rowcall.crm',
  'bearer:DATABASE_URL',
  'bearer:DATABASE_URL_FILE',
  'header:X-A=ROWCALL_OWNER_KEY',
  'basic:A:rowcall_secret_key',
])('refuses %j', (text) => {
  expect(() => parseAuth(text)).toThrow(AppError);
});

test('names the variables of an oauth label in upper case', () => {
  expect(['github', 'crm.prod', 'A-b_c'].map(toOauthPrefix)).toEqual(['GITHUB', 'CRM_PROD', 'A_B_C']);
});

test('never quotes what may be a secret put there by mistake', () => {
  try {
    parseAuth('bearer:sk-live-0123456789');
    expect.unreachable();
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_row' });
    expect(JSON.stringify([String(error), error])).not.toContain('sk-live');
  }
});
