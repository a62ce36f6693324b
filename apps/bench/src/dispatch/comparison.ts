import { once } from 'node:events';
import Fastify from 'fastify';
import pg from 'pg';
import { insertCall } from './comparison-table.js';

/** Connections of the plain way: more were not faster. */
const POOL_MAX = 10;

/** What the process is told before it gets ready: over its channel, where a password is seen by nobody. */
export interface ComparisonSettings {
  readonly databaseUrl: string;
}

interface CallBody {
  readonly key: string;
  readonly body: string;
}

const text = { type: 'string' } as const;
const schema = {
  body: {
    type: 'object',
    required: ['key', 'body'],
    additionalProperties: false,
    properties: { key: text, body: text },
  },
  response: { 200: { type: 'object', properties: { ok: { type: 'boolean' }, id: text, result: text } } },
} as const;

// What the API is compared with, as its own process: the framework alone, and the framework with one insert per request.
const [settings] = (await once(process, 'message')) as [ComparisonSettings];
const pool = new pg.Pool({
  connectionString: settings.databaseUrl,
  max: POOL_MAX,
  options: '-c synchronous_commit=on',
});
process.on('disconnect', () => process.exit(0));
const app = Fastify();
app.post<{ Body: CallBody }>('/bare', { schema }, async ({ body }) => ({ ok: true, id: '', result: body.body }));
app.post<{ Body: CallBody }>('/insert', { schema }, async ({ body }) => ({
  ok: true,
  id: await insertCall(pool, body),
  result: body.body,
}));
const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.send?.({ ready: true, url });
