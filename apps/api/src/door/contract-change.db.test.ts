import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importLines, makeLine } from '../testing/import.js';
import { startTestApi, type TestApi } from '../testing/test-api.js';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const FIELD = 'contract_changed_since_last_call';
const write = (key: string, payload: string, more: object = {}) =>
  importLines(api.owner, [makeLine(key, { content: `# WHAT: Echo.\n["$1${payload}"]`, ...more })]);
const invoke = async (key: string, from = api) => (await from.owner.invoke({ key, body: 'a' })).json();
const fingerprintOf = (key: string) => api.context.catalogue.find(key)?.fingerprint;

describe(FIELD, () => {
  it('is told with the first call after a change, and only with that', async () => {
    await write('TOLD', '');
    const previous = fingerprintOf('TOLD');
    expect(await invoke('TOLD')).not.toHaveProperty(FIELD);
    await write('TOLD', '!');
    expect(await invoke('TOLD')).toMatchObject({ ok: true, [FIELD]: { previous, current: fingerprintOf('TOLD') } });
    expect(await invoke('TOLD')).not.toHaveProperty(FIELD);
  });

  it('is not told of a change that leaves the call as it was', async () => {
    await write('SAME', '');
    await invoke('SAME');
    await write('SAME', '', { category: 'moved' });
    expect(await invoke('SAME')).not.toHaveProperty(FIELD);
  });

  it('is not told to who never called the row', async () => {
    await write('FIRST', '');
    await write('FIRST', '!');
    expect(await invoke('FIRST')).not.toHaveProperty(FIELD);
  });

  it('is known to a process that has not seen the call before', async () => {
    await write('ELSEWHERE', '');
    const previous = fingerprintOf('ELSEWHERE');
    await invoke('ELSEWHERE');
    await write('ELSEWHERE', '!');
    const other = await startTestApi({ databaseUrl: api.databaseUrl });
    expect(await invoke('ELSEWHERE', other)).toMatchObject({ [FIELD]: { previous } });
    expect(await invoke('ELSEWHERE', other)).not.toHaveProperty(FIELD);
    await other.close();
  });

  it('is not used up by a call that is refused, or only shaped', async () => {
    await write('REFUSED', '');
    const previous = fingerprintOf('REFUSED');
    await invoke('REFUSED');
    await write('REFUSED', '!');
    await api.owner.invoke({ key: 'REFUSED', body: 'a', expect_contract: previous });
    await api.owner.invoke({ key: 'REFUSED', body: 'a', shape: true });
    expect(await invoke('REFUSED')).toMatchObject({ [FIELD]: { previous } });
  });
});
