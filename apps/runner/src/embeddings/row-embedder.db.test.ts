import type { Log } from '@rowcall/protocol';
import { listRowEmbeddings } from '@rowcall/store';
import {
  type EmbeddingsServer,
  sendEmbeddings,
  sendTestVectors,
  startEmbeddingsServer,
  type TestStore,
  testStore,
  toTestVector,
} from '@rowcall/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type EmbeddingRunner,
  insertText,
  listEmbedded,
  startEmbeddingRunner,
  until,
} from '../testing/embedding-runner.js';

const MODEL = 'model-a';
const KEY = 'sk-a-key-that-nobody-may-see';

let database: TestStore;
let server: EmbeddingsServer;
let runners: EmbeddingRunner[];
let lines: string[];

beforeAll(async () => {
  database = await testStore();
});
afterAll(() => database.drop());
beforeEach(async () => {
  server = await startEmbeddingsServer();
  runners = [];
  lines = [];
  await database.store.pool.query('delete from directory; delete from row_embedding');
});
afterEach(async () => {
  await Promise.all(runners.map((runner) => runner.end()));
  await server.close();
  expect(lines.join('\n')).not.toContain(KEY);
});

const toLine = (facts: object): string =>
  JSON.stringify(facts, (_name, value) => (value instanceof Error ? `${value.stack} ${JSON.stringify(value)}` : value));
const line = (facts: object, message: string) => void lines.push(`${message} ${toLine(facts)}`);
const log: Log = { debug() {}, info: line, warn: line, error: line };

async function start(databaseUrl = database.url): Promise<EmbeddingRunner> {
  const settings = { url: server.url, model: MODEL, key: KEY, dimensions: undefined };
  const runner = await startEmbeddingRunner(databaseUrl, { settings, log });
  runners.push(runner);
  return runner;
}

const insert = (key: string, what: string, columns = {}) => insertText(database, key, what, columns);
const insertMany = (count: number) =>
  database.store.pool.query(
    `insert into directory (key, type, content) select 'MANY_' || n, 'fn', '# WHAT: many' from generate_series(1, $1) n`,
    [count],
  );
const embedded = () => listEmbedded(database, MODEL);
const untilEmbedded = (...keys: string[]) => until(async () => expect(await embedded()).toEqual(keys));
const untilAll = (count: number) => until(async () => expect(await embedded()).toHaveLength(count));
const sentTexts = () => server.requests.flatMap(({ input }) => input);
const saying = (part: string) => lines.filter((said) => said.includes(part));

describe('a runner with a service of embeddings', () => {
  test('has the vectors computed of the rows there are, and of those that come and change', async () => {
    await insert('WEATHER', 'Forecast for a place.');
    await start();
    await untilEmbedded('WEATHER');
    await insert('NOW', 'The time.');
    await untilEmbedded('NOW', 'WEATHER');
    await database.store.pool.query(`update directory set content = '# WHAT: Tides.' where key = 'WEATHER'`);
    await until(() =>
      expect(sentTexts()).toEqual(['weather\nForecast for a place.', 'now\nThe time.', 'weather\nTides.']),
    );
    const expected = toTestVector('weather\nTides.');
    const scale = 127 / Math.max(...expected);
    await until(async () => {
      const [, weather] = await listRowEmbeddings(database.store.db, MODEL, { after: '', limit: 2 });
      expect([...(weather?.vector ?? [])]).toEqual(expected.map((number) => Math.round(number * scale)));
    });
  });

  test('asks for no vector twice: of a row that changed in anything but its text, or that search does not show', async () => {
    await insert('WEATHER', 'Forecast for a place.');
    await insert('HIDDEN', 'Nobody finds this.', { planner_visible: false });
    await insert('TEST_SCRATCH', 'Nobody finds this.');
    const runner = await start();
    await untilEmbedded('WEATHER');
    await database.store.pool.query(`update directory set seq = 9`);
    runner.drop();
    await insert('MARKER', 'The last one.');
    await untilEmbedded('MARKER', 'WEATHER');
    await start();
    await insert('MARKER_2', 'The very last one.');
    await untilEmbedded('MARKER', 'MARKER_2', 'WEATHER');
    expect(sentTexts()).toHaveLength(3);
  });

  test('sends at most 64 texts at once', async () => {
    await insertMany(150);
    await start();
    await untilAll(150);
    expect(server.requests.map(({ input }) => input.length)).toEqual([64, 64, 22]);
  });

  test('shares the work with another: no text is paid for twice, and one request is under way at a time', async () => {
    await insertMany(300);
    let underWay = 0;
    let most = 0;
    server.answer = (response, request) => {
      underWay += 1;
      most = Math.max(most, underWay);
      response.on('close', () => {
        underWay -= 1;
      });
      sendTestVectors(response, request);
    };
    await Promise.all([start(), start(), start()]);
    await untilAll(300);
    expect(new Set(sentTexts()).size).toBe(300);
    expect(sentTexts()).toHaveLength(300);
    expect(most).toBe(1);
  });

  test('goes on where another stopped in the middle of a request', async () => {
    await insert('WEATHER', 'Forecast for a place.');
    server.hold();
    const first = await start();
    await server.untilAsked(1);
    await start();
    server.answer = sendTestVectors;
    await first.end();
    await untilEmbedded('WEATHER');
    expect(server.requests).toHaveLength(2);
  });

  test('stores no vector of a text that changed while it was computed', async () => {
    await insert('WEATHER', 'Forecast for a place.');
    const letGo = server.hold();
    await start();
    await server.untilAsked(1);
    // Nobody is told, so that only the database can know.
    await database.store.pool.query(`alter table directory disable trigger directory_record;
      update directory set content = '# WHAT: Tides.' where key = 'WEATHER';
      alter table directory enable always trigger directory_record`);
    await insert('MARKER', 'Another row.');
    letGo();
    await untilEmbedded('MARKER');
    await database.store.pool.query(`update directory set seq = 9 where key = 'WEATHER'`);
    await untilEmbedded('MARKER', 'WEATHER');
    expect(sentTexts().at(-1)).toBe('weather\nTides.');
  });

  test('has the vectors of another model computed anew', async () => {
    await insert('WEATHER', 'Forecast for a place.');
    await start();
    await untilEmbedded('WEATHER');
    await database.store.pool.query(`update row_embedding set model = 'model-b'`);
    await start();
    await untilEmbedded('WEATHER');
    expect(server.requests).toHaveLength(2);
  });

  const broken: [string, EmbeddingsServer['answer']][] = [
    ['fails', sendEmbeddings({ error: `no ${KEY}` }, 500)],
    ['does not know the key', sendEmbeddings({ error: KEY }, 401)],
    ['breaks off', (response) => void response.destroy()],
    ['answers too few vectors', sendEmbeddings({ data: [] })],
    ['answers no numbers', sendEmbeddings({ data: [{ index: 0, embedding: ['1', null] }] })],
    ['takes no text at all', sendEmbeddings({}, 400)],
  ];
  test.each(broken)('tries again when the service %s, and says so once', async (_name, answer) => {
    server.answer = answer;
    await insert('WEATHER', 'Forecast for a place.');
    await start();
    await server.untilAsked(6);
    expect(await embedded()).toEqual([]);
    expect(saying('cannot be computed')).toHaveLength(1);
    server.answer = sendTestVectors;
    await untilEmbedded('WEATHER');
    await until(() => expect(saying('computed again')).toHaveLength(1));
  });

  test('refuses vectors of other dimensions than those that are stored, and says what to do', async () => {
    await insert('WEATHER', 'Forecast for a place.');
    await start();
    await untilEmbedded('WEATHER');
    server.answer = sendEmbeddings({ data: [{ index: 0, embedding: [1, 2] }] });
    await insert('NOW', 'The time.');
    await until(() => expect(saying('answered 2 dimensions, and the stored vectors have 16')).toHaveLength(1));
    expect(await embedded()).toEqual(['WEATHER']);
  });

  test('sends fewer texts at once to a service that takes fewer', async () => {
    server.answer = (response, request) =>
      request.input.length > 10 ? sendEmbeddings({}, 413)(response, request) : sendTestVectors(response, request);
    await insertMany(40);
    await start();
    await untilAll(40);
    expect(server.requests.map(({ input }) => input.length)).toEqual([40, 20, 10, 10, 10, 10]);
  });

  test('leaves one text aside that the service does not take, and embeds all others', async () => {
    server.answer = (response, request) =>
      request.input.some((text) => text.includes('poison'))
        ? sendEmbeddings({}, 400)(response, request)
        : sendTestVectors(response, request);
    await insertMany(20);
    await insert('MIDDLE', 'poison');
    await start();
    await untilAll(20);
    await until(() => expect(saying('does not take the text')).toHaveLength(1));
    const asked = server.requests.length;
    await database.store.pool.query(`update directory set seq = 9 where key = 'MIDDLE'`);
    await insert('NOW', 'The time.');
    await untilAll(21);
    expect(server.requests).toHaveLength(asked + 1);
    await database.store.pool.query(`update directory set content = '# WHAT: antidote' where key = 'MIDDLE'`);
    await untilAll(22);
  });

  test('goes on when the database was away as an answer came', async () => {
    await insert('WEATHER', 'Forecast for a place.');
    const letGo = server.hold();
    await start();
    await server.untilAsked(1);
    await database.store.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name like 'test-embedding-runner%'`,
    );
    letGo();
    await untilEmbedded('WEATHER');
  });
});
