import { type TestStore, testStore } from '@rowcall/testing';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openClient } from './testing/clients.js';

const CHANNEL = 'rowcall_directory';

describe('a change of the directory in plain SQL', () => {
  let database: TestStore;
  let client: pg.Client;
  let listener: pg.Client;
  let heard: string[];
  let role: string;
  let sequence = 0;
  let key: string;

  /** Notifications arrive in the order of their commits, so that all of earlier commits are there when this one is. */
  const listen = async () => {
    const marker = `marker ${Math.random()}`;
    const arrived = new Promise<void>((resolve) => {
      listener.on('notification', ({ payload }) => {
        if (payload === marker) resolve();
      });
    });
    await client.query('select pg_notify($1, $2)', [CHANNEL, marker]);
    await arrived;
    return heard.filter((payload) => payload.startsWith(`${key} `));
  };

  const insert = () => client.query(`insert into directory (key, type, target) values ($1, 'fn', 'ECHO')`, [key]);
  const change = (assignment: string) => client.query(`update directory set ${assignment} where key = $1`, [key]);
  const remove = () => client.query('delete from directory where key = $1', [key]);
  const find = async () => {
    const { rows } = await client.query('select * from directory where key = $1', [key]);
    return rows[0];
  };
  const listHistory = async () => {
    const { rows } = await client.query(
      'select version, deleted, actor, reason, fingerprint, row from directory_version where key = $1 order by version',
      [key],
    );
    return rows;
  };
  const listEvents = async () => {
    const { rows } = await client.query('select kind, actor, reason, detail from event where key = $1 order by id', [
      key,
    ]);
    return rows;
  };

  beforeAll(async () => {
    database = await testStore();
    client = await openClient(database.url);
    listener = await openClient(database.url);
    listener.setMaxListeners(100);
    listener.on('notification', ({ payload }) => heard.push(payload ?? ''));
    await listener.query(`listen ${CHANNEL}`);
    role = decodeURIComponent(new URL(database.url).username);
  });

  beforeEach(() => {
    sequence += 1;
    key = `ROW_${sequence}`;
    heard = [];
  });

  afterAll(async () => {
    await Promise.all([client.end(), listener.end()]);
    await database.drop();
  });

  test('takes the version up through update, deletion and re-creation', async () => {
    await insert();
    await change('seq = 1');
    await remove();
    await insert();
    expect((await find()).version).toBe(4);
    await remove();
    const history = await listHistory();
    expect(history.map(({ version, deleted }) => [version, deleted])).toEqual([
      [1, false],
      [2, false],
      [3, true],
      [4, false],
      [5, true],
    ]);
  });

  test('cannot set a version, nor the times', async () => {
    await client.query(`insert into directory (key, type, version, created_at) values ($1, 'fn', 77, '2001-01-01')`, [
      key,
    ]);
    const inserted = await find();
    expect(inserted.version).toBe(1);
    expect(inserted.created_at.getFullYear()).toBeGreaterThan(2001);
    await change(`version = 99, created_at = '2001-01-01', updated_at = '2001-01-01', seq = 5`);
    const changed = await find();
    expect(changed.version).toBe(2);
    expect(changed.created_at).toEqual(inserted.created_at);
    expect(changed.updated_at.getFullYear()).toBeGreaterThan(2001);
  });

  test('that changes nothing keeps the version and leaves no history, event or notification', async () => {
    await insert();
    const updated = await change(`target = 'ECHO', version = 9, updated_at = now()`);
    expect(updated.rowCount).toBe(0);
    expect((await find()).version).toBe(1);
    expect(await listHistory()).toHaveLength(1);
    expect(await listEvents()).toHaveLength(1);
    expect(await listen()).toEqual([`${key} 1`]);
  });

  test('of the key is refused', async () => {
    await insert();
    await expect(change(`key = 'OTHER'`)).rejects.toThrow(
      `the key of a row cannot change: insert OTHER and delete ${key}`,
    );
  });

  test('writes the whole row into the history, a deleted one as it stood', async () => {
    await insert();
    await change(`content = '# WHAT: Is kept.', examples = '["a"]', allowed_categories = '{x,y}'`);
    const stood = await find();
    await remove();
    const [, , deletion] = await listHistory();
    const { created_at, updated_at, fingerprint, ...columns } = stood;
    expect(deletion.row).toMatchObject(columns);
    expect(new Date(deletion.row.created_at)).toEqual(created_at);
    expect(Object.keys(deletion.row).sort()).toEqual([...Object.keys(columns), 'created_at', 'updated_at'].sort());
  });

  test('is attributed to the role of the session', async () => {
    await insert();
    expect(await listHistory()).toMatchObject([{ actor: `sql:${role}`, reason: null }]);
    expect(await listEvents()).toEqual([
      { kind: 'DIRECTORY_MUTATE', actor: `sql:${role}`, reason: null, detail: { action: 'insert', version: 1 } },
    ]);
  });

  test('is attributed to the actor and the reason that the transaction gives, and to them alone', async () => {
    await client.query('begin');
    await client.query(`select set_config('rowcall.actor', 'cap:1', true), set_config('rowcall.reason', 'test', true)`);
    await insert();
    await client.query('commit');
    await remove();
    expect(await listHistory()).toMatchObject([
      { actor: 'cap:1', reason: 'test' },
      { actor: `sql:${role}`, reason: null },
    ]);
    expect(await listEvents()).toMatchObject([
      { actor: 'cap:1', reason: 'test', detail: { action: 'insert', version: 1 } },
      { actor: `sql:${role}`, reason: null, detail: { action: 'delete', version: 2 } },
    ]);
  });

  test('notifies key and version once per change, when it is committed', async () => {
    await client.query('begin');
    await insert();
    await change('seq = 1');
    expect(heard).toEqual([]);
    await client.query('commit');
    await remove();
    expect(await listen()).toEqual([`${key} 1`, `${key} 2`, `${key} 3`]);
  });

  test('that is rolled back leaves no row, history, event or notification', async () => {
    await client.query('begin');
    await insert();
    await change('seq = 1');
    await client.query('rollback');
    expect(await find()).toBeUndefined();
    expect(await listHistory()).toEqual([]);
    expect(await listEvents()).toEqual([]);
    expect(await listen()).toEqual([]);
  });

  test('of what defines the call voids the fingerprint', async () => {
    await client.query(`insert into directory (key, type, fingerprint) values ($1, 'fn', 'computed')`, [key]);
    await change(`planner_rank = 1`);
    expect((await find()).fingerprint).toBe('computed');
    await change(`target = 'UPPER'`);
    expect((await find()).fingerprint).toBeNull();
    expect((await listHistory()).map(({ fingerprint }) => fingerprint)).toEqual(['computed', 'computed', null]);
  });

  test('to a fingerprint alone is no change', async () => {
    await insert();
    await change(`fingerprint = 'computed'`);
    expect(await find()).toMatchObject({ version: 1, fingerprint: null });
  });

  test('by TRUNCATE is refused', async () => {
    await insert();
    await expect(client.query('truncate directory')).rejects.toThrow(
      'TRUNCATE on directory is refused: delete its rows, so that their history is kept',
    );
  });

  test('is recorded although the session calls itself a replica', async () => {
    await client.query('begin');
    await client.query('set local session_replication_role = replica');
    await insert();
    await change('seq = 1');
    await client.query('commit');
    expect(await listHistory()).toHaveLength(2);
    expect(await listen()).toEqual([`${key} 1`, `${key} 2`]);
  });

  test.each([
    ['a key in lower case', `key = 'lower'`],
    ['an unknown type', `type = 'script'`],
    ['an unknown effect', `effect = 'harmless'`],
    ['a schema that is no object', `input_schema = '[]'`],
    ['examples that are no array', `examples = '{}'`],
    ['headers that are no object', `headers = '"a"'`],
    ['limits that are no object', `limits = '1'`],
  ])('to %s is refused', async (_name, assignment) => {
    await client.query(`insert into directory (key, type) values ($1, 'fn')`, [key]);
    await expect(change(assignment)).rejects.toMatchObject({ code: expect.stringMatching(/^(23514|23001)$/) });
  });
});
