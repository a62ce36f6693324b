import type { Entry } from '@rowcall/catalogue';
import { AppError } from '@rowcall/errors';
import { keySchema, problemSchema } from '@rowcall/protocol';
import { z } from 'zod';
import type { App } from '../../app.js';
import type { Context } from '../../context.js';
import { requireOwner } from '../../plugins/owner.js';
import { keyParams } from './shared.js';

/** Examples of one row that a test runs. */
const EXAMPLES_MAX = 20;

const testedSchema = z
  .object({
    example: z.string(),
    ok: z.boolean().meta({ description: 'Fired: the run did not fail. Shaped: nothing that it needs is missing.' }),
    material: z.boolean().optional().meta({ description: 'Fired: the run produced usable output.' }),
    invocation_id: z.string().optional(),
    shape: z.looseObject({}).optional().meta({ description: 'What a row that writes would do.' }),
    missing: z.array(z.string()).optional().meta({ description: 'Environment variables that are not set.' }),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
  })
  .meta({ id: 'TestedExample' });
type Tested = z.output<typeof testedSchema>;

/** Runs one example of a row that reads, and shapes one of a row that does more. */
async function testExample({ engine }: Context, entry: Entry, example: string): Promise<Tested> {
  const request = {
    key: entry.row.key,
    input: { body: example },
    mode: 'sync' as const,
    reason: 'test',
    shape: entry.effect !== 'read',
    // Part of it is the effect: a row that begins to write meanwhile is not fired.
    expectContract: entry.fingerprint,
  };
  try {
    const dispatched = await engine.dispatch(request, { actor: 'owner', traceparent: null, chain: [] });
    if (dispatched.kind === 'shaped') {
      const { shape, missing } = dispatched.call;
      return { example, ok: missing.length === 0, shape, missing: [...missing] };
    }
    if (dispatched.kind !== 'finished') throw new Error(`a synchronous call of the owner was ${dispatched.kind}`);
    const { receipt, error } = dispatched.call;
    return {
      example,
      ok: receipt.outcome === 'succeeded',
      material: receipt.material,
      invocation_id: receipt.id,
      ...(error === null ? {} : { error: { code: error.reason, message: error.message } }),
    };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { receipt } = error.details;
    return {
      example,
      ok: false,
      ...(typeof receipt === 'string' ? { invocation_id: receipt } : {}),
      error: { code: error.reason, message: error.message },
    };
  }
}

/** POST /api/directory/{key}/test: tries the examples of a row. What only reads is fired; anything else is shaped. */
export function addTestRow(app: App, context: Context): void {
  app.route({
    method: 'POST',
    url: '/api/directory/:key/test',
    schema: {
      operationId: 'testRow',
      summary: 'Try the examples of a row',
      description: `The first ${EXAMPLES_MAX} examples of its column and its EX lines, one after the other. A row that reads is run; one that writes or destroys is shaped, never fired.`,
      tags: ['directory'],
      security: [{ ownerKey: [] }],
      params: keyParams,
      response: {
        200: z.object({
          key: keySchema,
          effect: z.enum(['read', 'write', 'destructive']),
          ok: z.boolean().meta({ description: 'Every example is.' }),
          examples: z.array(testedSchema),
        }),
        401: problemSchema,
        404: problemSchema,
      },
    },
    onRequest: (request) => requireOwner(context, request),
    async handler({ params: { key } }) {
      const entry = context.directory.get(key);
      const bodies = [...new Set([...entry.row.examples, ...entry.doc.ex])].slice(0, EXAMPLES_MAX);
      const examples: Tested[] = [];
      for (const body of bodies) examples.push(await testExample(context, entry, body));
      return { key, effect: entry.effect, ok: examples.every(({ ok }) => ok), examples };
    },
  });
}
