import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../testing/test-api.js';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const tokensOf = async (question: string, more = ''): Promise<number> => {
  const answer = await api.anyone.get(`/api/dispatch?ask=${encodeURIComponent(question)}${more}`);
  expect(answer.status).toBe(200);
  return countTokens(answer.text);
};

const TEXTS = {
  hex: '8f3a91c07be4d25f'.repeat(900),
  words: 'the quick brown fox jumps over the lazy dog and reads invoices '.repeat(200),
  emoji: '🜁🦄👩‍🚀'.repeat(1_500),
  chinese: '的一是不了人我在有他这为之大来以个中上们'.repeat(500),
  signs: '{"a":[1,2,{}]}\\"~^|'.repeat(600),
};

const addRow = async (key: string, what: string, more: object = {}): Promise<void> => {
  const body = { key, type: 'fn', target: 'ECHO', content: `# WHAT: ${what}\n# EX: [${key}]x[/${key}]`, ...more };
  const answer = await api.owner.send('POST', '/api/directory', { body });
  expect(answer.status, answer.text).toBe(201);
};

describe('the tokens (o200k_base) of an answer', () => {
  it('are at most 600 for every row without a schema that the server comes with, and 1,200 for the others', async () => {
    const { keys } = { keys: [...api.context.catalogue.list()].map(({ key }) => key) };
    expect(keys.length).toBeGreaterThan(40);
    for (const key of keys) {
      const limit = api.context.catalogue.find(key)?.hasInputSchema === true ? 1_200 : 600;
      expect(await tokensOf(`use ${key}`), key).toBeLessThanOrEqual(limit);
    }
  });

  it.each(Object.entries(TEXTS))('stay in their limit for rows described by %s', async (name, text) => {
    for (let index = 0; index < 12; index += 1) {
      const key = `LONG_${name.toUpperCase()}_${index}_`.padEnd(64, 'QXZVKW7J_');
      await addRow(key, `${name}zz capability ${text.slice(0, 12_000).toWellFormed()}`);
    }
    expect(await tokensOf(`${name}zz capability`)).toBeLessThanOrEqual(600);
    expect(await tokensOf(`${name}zz capability`, '&explain=1')).toBeLessThanOrEqual(1_200);
  });

  it('stay in their limit for a schema of hundreds of arguments and an example of 4,000 characters', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [`argument_${index}`, { type: 'string', description: 'x'.repeat(60) }]),
    );
    await addRow('VAST_SCHEMA', 'Vastschema takes everything.', {
      input_schema: { type: 'object', properties },
      examples: [JSON.stringify({ argument_0: 'y'.repeat(3_900) })],
    });
    expect(await tokensOf('vastschema takes everything')).toBeLessThanOrEqual(1_200);
  });

  it('stay in their limit when nothing fits, and for a question of six things', async () => {
    expect(await tokensOf('qwertyuiop zxcvbnm')).toBeLessThanOrEqual(600);
    const question = 'what time is it, make text upper case, hash a text, get a country, roll dice and create a uuid';
    expect(await tokensOf(question)).toBeLessThanOrEqual(1_200);
  });

  it('stay in their limit for names of categories and words of questions that take a token for each byte', async () => {
    const rare = 'ꙮ꧁༺𠮷𡃁𡋤';
    expect(await tokensOf(`${rare.repeat(20).slice(0, 100).toWellFormed()} what time is it`)).toBeLessThanOrEqual(600);
    for (let index = 0; index < 30; index += 1) {
      await addRow(`RARE_${index}_`.padEnd(64, 'QXZVKW7J_'), `blorp${'abcdefghij'[index % 10]} frobnicate`, {
        category: `${index}${rare.repeat(10)}`.slice(0, 100).toWellFormed(),
      });
    }
    expect(await tokensOf('qwertyuiop zxcvbnm')).toBeLessThanOrEqual(600);
    const clause = (letter: string) => `blorp${letter} frobnicate ${rare.repeat(6)}`;
    expect(await tokensOf([...'abcdef'].map(clause).join('; '))).toBeLessThanOrEqual(1_200);
    expect(await tokensOf([...'abcdef'].map((letter) => `blorp${letter} frobnicate`).join('; '))).toBeLessThanOrEqual(
      1_200,
    );
  });
});
