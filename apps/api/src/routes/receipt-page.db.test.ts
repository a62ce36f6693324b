import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../testing/test-api.js';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

async function readPage(body: object) {
  const answer = await api.owner.invoke(body);
  const { proof, receipt } = answer.json<{ proof?: { invocation_id: string }; receipt?: string }>();
  return api.anyone.get(`/receipt/${proof?.invocation_id ?? receipt}`);
}

describe('GET /receipt/{id}', () => {
  it('shows anyone that the call was made, and nothing that went in or came out', async () => {
    const page = await readPage({ key: 'ECHO', body: 'a private word', reason: 'a private reason' });
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.text).toContain('Confirmed');
    expect(page.text).toContain('<dt>key</dt><dd>ECHO</dd>');
    expect(page.text).not.toContain('private');
  });

  it.each([
    ['a script', '<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
    ['an end of the page', '</dd></dl></html>', '&lt;/dd&gt;&lt;/dl&gt;&lt;/html&gt;'],
    ['quotes', `" onload='x' &amp;`, '&quot; onload=&#39;x&#39; &amp;amp;'],
  ])('shows a key that holds %s as text', async (_what, key, escaped) => {
    const page = await readPage({ key });
    expect(page.status).toBe(200);
    expect(page.text).toContain(`<dt>key</dt><dd>${escaped}</dd>`);
    expect(page.text).not.toContain(key);
  });

  it('allows nothing but its own style', async () => {
    const page = await readPage({ key: 'ECHO', body: 'a' });
    const style = /<style>([^<]*)<\/style>/.exec(page.text)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(page.headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    expect(page.headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
    expect(page.text).not.toMatch(/<script|https?:|src=|href=| on\w+=/);
  });

  it('says where a call stands that has not ended', async () => {
    const answer = await api.owner.invoke({ key: 'ECHO', body: 'a', mode: 'async' });
    const { invocation_id } = answer.json<{ invocation_id: string }>();
    expect((await api.anyone.get(`/receipt/${invocation_id}`)).text).toContain('Not finished: queued.');
  });

  it.each(['inv_1', 'x', `inv_${'0'.repeat(32)}`, '%3Cscript%3E'])('of %s is a problem', async (id) => {
    const answer = await api.anyone.get(`/receipt/${id}`);
    expect(answer.status).toBe(404);
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
  });
});
