import { describe, expect, it } from 'vitest';
import { toToolRows } from './rows.js';

describe('the rows of tools', () => {
  it('hold name, description, category and schema, whatever types the schema names', () => {
    const schema = { type: 'object', properties: { city: { type: 'str', description: 'Where.' } } };
    const { rows, ids } = toToolRows([
      { id: 'set:1', name: 'getForecast', description: 'The weather\n ahead. ', category: 'Weather', schema },
    ]);
    expect(rows).toMatchObject([
      { key: 'GET_FORECAST', content: '# WHAT: The weather ahead.', category: 'Weather', input_schema: schema },
    ]);
    expect(ids.get('GET_FORECAST')).toBe('set:1');
  });

  it('do without what a tool does not have', () => {
    expect(toToolRows([{ id: '1', name: 'ping' }]).rows).toMatchObject([
      { key: 'PING', content: '# WHAT: ', category: '', input_schema: null },
    ]);
  });
});
