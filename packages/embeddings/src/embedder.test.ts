import type { Log } from '@rowcall/protocol';
import { type EmbeddingsServer, sendEmbeddings, sendTestVectors, startEmbeddingsServer } from '@rowcall/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { buildEmbedder, type Embedder } from './embedder.js';

const KEY = 'sk-a-key-that-nobody-may-see';
/** Longer than the service takes, on any machine. */
const LONG_MS = 20_000;
const LATE = { state: 'embedding_late' };
const VECTOR = { state: 'embedding', vector: expect.any(Float32Array) };

let server: EmbeddingsServer;
let embedder: Embedder;
let lines: string[];
let clock: number;
beforeEach(async () => {
  server = await startEmbeddingsServer();
  lines = [];
  clock = 0;
  const line = (facts: object, message: string) => void lines.push(`${message} ${inspect(facts)}`);
  const log: Log = { debug: line, info: line, warn: line, error: line };
  const settings = { url: server.url, model: 'model-a', key: KEY, dimensions: undefined };
  embedder = buildEmbedder(settings, { log, now: () => clock });
});
afterEach(async () => {
  await embedder.close();
  await server.close();
});

const inspect = (facts: object): string =>
  JSON.stringify(facts, (_name, value) => (value instanceof Error ? `${value.stack} ${JSON.stringify(value)}` : value));
const ask = (question: string, budgetMs = LONG_MS) => embedder.embedQuestion(question, budgetMs);
const fail = sendEmbeddings({}, 500);

describe('the embedder of questions', () => {
  it('is off, and asks nobody, where no service is set', async () => {
    const off = buildEmbedder(undefined, { log: { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() } });
    expect(await off.embedQuestion('what time is it', 50)).toEqual({ state: 'off' });
    await off.close();
  });

  it('gives the vector of a question, and remembers it', async () => {
    const first = await ask('what time is it');
    expect(first).toEqual(VECTOR);
    expect(await ask('  what time is it ')).toEqual(first);
    expect(server.requests).toHaveLength(1);
  });

  it('answers within its budget although the service never does', async () => {
    server.hold();
    expect(await ask('what time is it', 50)).toEqual(LATE);
  });

  it('has an answer that came too late ready for the next question alike', async () => {
    const letGo = server.hold();
    expect(await ask('what time is it', 1)).toEqual(LATE);
    await server.untilAsked(1);
    letGo();
    // Joins the request that is under way, or finds what it brought.
    expect(await ask('what time is it')).toEqual(VECTOR);
    expect(server.requests).toHaveLength(1);
  });

  it('asks once for questions alike that come at the same time', async () => {
    const answers = await Promise.all([ask('one'), ask('one'), ask('one'), ask('two')]);
    expect(answers).toEqual([VECTOR, VECTOR, VECTOR, VECTOR]);
    expect(server.requests).toHaveLength(2);
  });

  it('lets at most eight questions wait: the ninth is late at once, and asks nobody', async () => {
    const letGo = server.hold();
    const waiting = Array.from({ length: 8 }, (_, number) => ask(`question ${number}`));
    expect(await ask('the ninth', 1e9)).toEqual(LATE);
    await server.untilAsked(8);
    letGo();
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => VECTOR));
    expect(await ask('the ninth')).toEqual(VECTOR);
    expect(server.requests).toHaveLength(9);
  });

  it('sends 2,000 characters of a question at the most, well-formed, and nothing of an empty one', async () => {
    await ask(`${'a'.repeat(1_999)}😀`);
    expect(server.requests[0]?.input).toEqual([`${'a'.repeat(1_999)}\uFFFD`]);
    expect(await ask('  ')).toEqual(LATE);
    expect(server.requests).toHaveLength(1);
  });

  it('leaves a service alone for 30 s that failed five times, then tries once, and says so once', async () => {
    server.answer = fail;
    for (let number = 0; number < 7; number += 1) expect(await ask(`question ${number}`)).toEqual(LATE);
    expect(server.requests).toHaveLength(5);
    clock = 29_999;
    await ask('too early');
    expect(server.requests).toHaveLength(5);
    clock = 30_000;
    await ask('the probe');
    await ask('behind the probe');
    expect(server.requests).toHaveLength(6);
    server.answer = sendTestVectors;
    clock = 60_000;
    expect(await ask('the second probe')).toEqual(VECTOR);
    expect(await ask('another')).toEqual(VECTOR);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^the embeddings service fails.*answered 500/);
    expect(lines[1]).toMatch(/^questions are ranked by their meaning again/);
  });

  it('leaves a service alone at once, and as long as it asks for', async () => {
    server.answer = sendEmbeddings({}, 429, { 'retry-after': '60' });
    await ask('one');
    server.answer = sendTestVectors;
    clock = 59_999;
    expect(await ask('two')).toEqual(LATE);
    clock = 60_000;
    expect(await ask('two')).toEqual(VECTOR);
    expect(server.requests).toHaveLength(2);
  });

  it('does not take a question that the service refuses for a failure of the service', async () => {
    server.answer = sendEmbeddings({}, 400);
    for (let number = 0; number < 6; number += 1) await ask(`question ${number}`);
    server.answer = sendTestVectors;
    expect(await ask('a good one')).toEqual(VECTOR);
    expect(lines).toEqual([]);
  });

  it.each([
    ['answers garbage', sendEmbeddings({ data: [{ index: 0, embedding: ['x'] }] })],
    ['breaks off', (response: { destroy(): unknown }) => void response.destroy()],
  ])('has a late answer, and never throws, when the service %s; the log has no key', async (_name, answer) => {
    server.answer = answer;
    for (let number = 0; number < 5; number += 1) expect(await ask(`question ${number}`)).toEqual(LATE);
    expect(lines).toHaveLength(1);
    expect(lines.join('\n')).not.toContain(KEY);
  });
});
