import { startEchoUpstream } from '@rowcall/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildHttpRunner } from './runner.js';
import type { HttpCall, HttpOutcome, HttpRunnerOptions, ResolvedAddress } from './types.js';

let echo: Awaited<ReturnType<typeof startEchoUpstream>>;
let port = '';
beforeAll(async () => {
  echo = await startEchoUpstream();
  port = new URL(echo.url).port;
});
afterAll(() => echo.close());

/** Answers of a hostile DNS: whatever the test says, one list per question. */
const answers = (...lists: string[][]) => {
  const asked: string[] = [];
  const resolve = async (hostname: string): Promise<ResolvedAddress[]> => {
    asked.push(hostname);
    const list = lists[Math.min(asked.length, lists.length) - 1] ?? [];
    return list.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
  return { asked, resolve };
};

async function send(url: string, options: Partial<HttpRunnerOptions> = {}): Promise<HttpOutcome> {
  const runner = buildHttpRunner({
    allowNets: [],
    allowLoopback: false,
    userAgent: 'test',
    credential: () => 'secret-value',
    random: () => 0,
    ...options,
  });
  const call: HttpCall = {
    method: 'POST',
    url,
    headers: [],
    body: null,
    auth: { kind: 'bearer', env: 'KEY' },
    effect: 'write',
    limits: { timeout_ms: 2_000 },
  };
  try {
    return await runner.run(call, new AbortController().signal);
  } finally {
    await runner.close();
  }
}

const HOSTS = [
  'localhost',
  'LOCALHOST',
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '0x7f.0.0.1',
  '127.0.0.1%2e',
  '%31%32%37.0.0.1',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '0',
  '0.0.0.0',
  '10.0.0.1',
  '0x0a000001',
  '192.168.1.1',
  '172.16.0.1',
  '100.64.0.1',
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '0251.0376.0251.0376',
  '168.63.129.16',
  '255.255.255.255',
  '224.0.0.1',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::127.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:0a00:0001]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::a9fe:a9fe]',
  '[2002:7f00:0001::]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[ff02::1]',
  '[2001:db8::1]',
  '169.254.169.254.',
  '0x7f000001.',
  '0177.1',
  '012.0.0.1',
  '0xa.0.0.1',
  '167772161',
  '0xc0a80101',
  '0xAC100001',
  '169.16689662',
  '0XA9.254.0251.254',
  '100.100.100.200',
  '192.0.0.192',
  '169.254.170.2',
  '[::ffff:169.254.169.254]',
  '[::ffff:a9fe:a9fe]',
  '[0:0:0:0:0:ffff:10.0.0.1]',
  '[::ffff:0:127.0.0.1]',
  '[fec0::1]',
];

describe('targets inside the network', () => {
  test.each(HOSTS)('are refused when the host is written %s', async (host) => {
    const outcome = await send(`http://${host}:${port}/`);
    expect(outcome).toMatchObject({ ok: false, result: null, upstream: null, error: { code: 'address_refused' } });
    expect(echo.requests).toHaveLength(0);
  });

  test.each([
    'http://127.0.0.1%00.example.com/',
    'http://[fe80::1%25eth0]/',
    'http://[::1',
    'http://127.0.0.1:99999/',
    'http://256.0.0.1/',
    'http://1.2.3.4.5/',
    'http://127.0.0.1\u0000/',
  ])('are refused where parsers disagree about the host: %j', async (url) => {
    await expect(send(url)).rejects.toMatchObject({ code: 'bad_template_value' });
  });

  test.each([
    'ftp://example.com/',
    'file:///etc/passwd',
    'data:text/plain,x',
    'gopher://127.0.0.1:70/_x',
    'unix:/var/run/docker.sock',
    'javascript:1',
  ])('are refused by scheme: %s', async (url) => {
    expect(await send(url)).toMatchObject({ upstream: null, error: { code: 'address_refused' } });
  });

  test.each([
    'http://user@example.com/',
    'http://user:pass@example.com/',
    'http://example.com@127.0.0.1/',
    'http://example.com:80@127.0.0.1/',
    'http://example.com%40@127.0.0.1/',
    'http://a@example.com@127.0.0.1/',
    'http://@127.0.0.1:80@example.com/',
  ])('are refused with user information: %s', async (url) => {
    const outcome = await send(url, { allowLoopback: true });
    expect(outcome).toMatchObject({ upstream: null, error: { code: 'address_refused' } });
    expect(JSON.stringify(outcome)).not.toContain('pass@');
  });
});

describe('names', () => {
  test.each([
    [['127.0.0.1']],
    [['10.1.2.3']],
    [['169.254.169.254']],
    [['::1']],
    [['::ffff:127.0.0.1']],
    [['fd00::1']],
    [['93.184.215.14', '127.0.0.1']],
    [['2606:2800:21f:cb07::1', '10.0.0.1']],
  ])('are refused whole when one answer of DNS is not public: %j', async (list) => {
    const outcome = await send(`http://innocent.test:${port}/`, answers(list));
    expect(outcome).toMatchObject({ upstream: null, error: { code: 'address_refused' } });
    expect(outcome.error?.message).toContain('innocent.test');
    expect(outcome.error?.message).not.toContain(list.at(-1));
    expect(echo.requests).toHaveLength(0);
  });

  test.each([
    ['metadata.google.internal', '169.254.169.254'],
    ['METADATA.google.internal.', '169.254.169.254'],
    ['metadata', '169.254.169.254'],
    ['instance-data.ec2.internal', '169.254.169.254'],
    ['metadata.tencentyun.com', '169.254.0.23'],
    ['127.0.0.1.nip.test', '127.0.0.1'],
    ['app.localhost', '127.0.0.1'],
    ['LocalHost.', '127.0.0.1'],
    ['kubernetes.default.svc', '10.96.0.1'],
  ])('of services inside are refused: %s', async (host, address) => {
    const outcome = await send(`http://${host}:${port}/`, answers([address]));
    expect(outcome).toMatchObject({ upstream: null, error: { code: 'address_refused' } });
    expect(echo.requests).toHaveLength(0);
  });

  test('are resolved once per connection, and the address checked is the one dialled', async () => {
    // A second question would be answered with an address that is refused.
    const { asked, resolve } = answers(['127.0.0.1'], ['127.0.0.2']);
    const before = echo.requests.length;
    const outcome = await send(`http://rebind.test:${port}/`, { allowNets: ['127.0.0.1/32'], resolve });
    expect(outcome).toMatchObject({ ok: true, result: { headers: { host: `rebind.test:${port}` } } });
    expect(asked).toEqual(['rebind.test']);
    expect(echo.requests).toHaveLength(before + 1);
  });

  test('that turn to another address are checked again at the next connection', async () => {
    const { resolve } = answers(['127.0.0.1'], ['127.0.0.2']);
    const runner = buildHttpRunner({
      allowNets: ['127.0.0.1/32'],
      allowLoopback: false,
      userAgent: 'test',
      credential: () => undefined,
      random: () => 0,
      resolve,
    });
    const call = (name: string): HttpCall => ({
      method: 'GET',
      url: `http://${name}.test:${port}/`,
      headers: [],
      body: null,
      auth: { kind: 'none' },
      effect: 'read',
      limits: null,
    });
    expect((await runner.run(call('a'), new AbortController().signal)).ok).toBe(true);
    expect(await runner.run(call('b'), new AbortController().signal)).toMatchObject({
      error: { code: 'address_refused' },
    });
    await runner.close();
  });

  test('written with a dot at the end are checked like any other', async () => {
    const outcome = await send(`http://innocent.test.:${port}/`, answers(['127.0.0.1']));
    expect(outcome).toMatchObject({ upstream: null, error: { code: 'address_refused' } });
  });

  test('without an address are unreachable', async () => {
    expect(await send('http://nowhere.test/', answers([]))).toMatchObject({
      error: { code: 'upstream_unreachable', message: 'no answer from http://nowhere.test (ENOTFOUND)' },
    });
  });

  test('reach the next address when the first does not answer', async () => {
    const { resolve } = answers(['127.0.0.9', '127.0.0.1']);
    const outcome = await send(`http://two.test:${port}/`, { allowLoopback: true, resolve });
    expect(outcome).toMatchObject({ ok: true });
  });
});

describe('an allowed network', () => {
  test('is reached by address', async () => {
    expect(await send(`http://127.0.0.1:${port}/`, { allowNets: ['127.0.0.0/8'] })).toMatchObject({ ok: true });
    expect(await send(`http://0x7f.1:${port}/`, { allowLoopback: true })).toMatchObject({ ok: true });
    expect(await send(`http://[::ffff:127.0.0.1]:${port}/`, { allowLoopback: true })).toMatchObject({ ok: true });
  });
});
