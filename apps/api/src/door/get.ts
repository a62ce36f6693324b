import { AppError } from '@rowcall/errors';
import { dispatchBodySchema, problemSchema } from '@rowcall/protocol';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { App } from '../app.js';
import type { Context } from '../context.js';
import { isOwner, requireOwner } from '../plugins/owner.js';
import { ask } from './ask.js';
import { confirm } from './confirm.js';
import { type Document, type Format, readContract } from './contract.js';
import { readFullContract } from './contract-full.js';
import { manifestToMarkdown, readManifest } from './manifest.js';
import { readMap } from './map.js';
import { readReceipt } from './receipt.js';
import { listRegistry, REGISTRY_LIMIT_MAX } from './registry.js';
import { sendDocument } from './send.js';

const querySchema = z.strictObject({
  ask: z.string().min(1).optional().meta({ description: 'Search in plain language.', example: 'what time is it' }),
  key: z.string().min(1).max(256).optional().meta({ description: "Read this row's contract.", example: 'NOW' }),
  map: z.string().min(1).max(128).optional().meta({ description: '1 for the root, or the name of a category.' }),
  registry: z.literal('1').optional().meta({ description: 'List flat descriptors.' }),
  schema: z.literal('invocation').optional().meta({ description: 'JSON Schema of an invocation.' }),
  confirm: z.string().min(1).max(64).optional().meta({ description: 'Public proof of a receipt.' }),
  receipt: z.string().min(1).max(64).optional().meta({ description: 'Everything about a receipt; owner only.' }),
  format: z.enum(['json', 'markdown', 'skill']).optional(),
  detail: z
    .literal('full')
    .optional()
    .meta({ description: 'With key, as JSON: failures, near rows, history, measurements.' }),
  category: z.string().max(128).optional().meta({ description: 'With registry.' }),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(REGISTRY_LIMIT_MAX)
    .optional()
    .meta({ description: 'With registry; 100 when not given.' }),
  cursor: z.string().max(1_024).optional().meta({ description: 'With registry: next_cursor of the page before.' }),
});
type Query = z.output<typeof querySchema>;

const json = (value: unknown): Document => ({
  contentType: 'application/json; charset=utf-8',
  text: JSON.stringify(value),
});
const markdown = (text: string): Document => ({ contentType: 'text/markdown; charset=utf-8', text });

/** How a document is asked for. */
interface View {
  readonly query: Query;
  readonly format: Format;
  /** Whether the caller may know what rows there are. */
  readonly seesRows: boolean;
  readonly byOwner: boolean;
}

interface Action {
  /** Parameters that may come with the action. */
  readonly companions: readonly (keyof Query)[];
  /** What decides whether a caller without a credential may read it. */
  readonly audience: 'contracts' | 'confirm' | 'owner' | 'anyone';
  read(context: Context, view: View): Document | Promise<Document>;
}

const { $schema, $defs } = z.toJSONSchema(dispatchBodySchema, { io: 'input' });
/** Flat, where the OpenAPI document refers to a component. */
const INVOCATION_SCHEMA = { $schema, ...$defs?.DispatchRequest, not: { required: ['body', 'args'] } };

const ACTIONS = {
  ask: {
    companions: [],
    audience: 'contracts',
    read: (context, { query }) => json(ask(context, query.ask ?? '')),
  },
  key: {
    companions: ['format', 'detail'],
    audience: 'contracts',
    read: (context, { query: { key = '', detail }, format, byOwner }) =>
      detail === undefined ? readContract(context, key, format) : readFullContract(context, key, byOwner),
  },
  map: {
    companions: [],
    audience: 'contracts',
    read: (context, { query }) => json(readMap(context, query.map ?? '1')),
  },
  registry: {
    companions: ['category', 'limit', 'cursor'],
    audience: 'contracts',
    read: (context, { query: { category, cursor, limit = 100 } }) =>
      json(
        listRegistry(context, {
          limit,
          ...(category === undefined ? {} : { category }),
          ...(cursor === undefined ? {} : { cursor }),
        }),
      ),
  },
  schema: { companions: [], audience: 'anyone', read: () => json(INVOCATION_SCHEMA) },
  confirm: {
    companions: [],
    audience: 'confirm',
    read: async (context, { query }) => json(await confirm(context, query.confirm ?? '')),
  },
  receipt: {
    companions: [],
    audience: 'owner',
    read: async (context, { query }) => json(await readReceipt(context, query.receipt ?? '')),
  },
} as const satisfies Record<string, Action>;

const MANIFEST: Action = {
  companions: ['format'],
  audience: 'anyone',
  read: (context, { format, seesRows }) =>
    format === 'json' ? json(readManifest(context, seesRows)) : markdown(manifestToMarkdown(context, seesRows)),
};

const FIX = `the actions are ${Object.keys(ACTIONS).join(', ')}; GET /api/dispatch explains them`;

/** The one action that a query asks for. @throws AppError unrecognized_request naming what does not go together. */
function toAction(query: Query): Action {
  const given = Object.keys(query);
  const names = given.filter((name): name is keyof typeof ACTIONS => Object.hasOwn(ACTIONS, name));
  const [name] = names;
  if (names.length > 1) {
    throw new AppError('unrecognized_request', `one action per request, not ${names.join(' and ')}`, { fix: FIX });
  }
  const action: Action = name === undefined ? MANIFEST : ACTIONS[name];
  const strange = given.filter((param) => param !== name && !action.companions.includes(param as keyof Query));
  if (query.format === 'skill' && name !== 'key') strange.push('format=skill');
  if (query.detail !== undefined && query.format !== undefined && query.format !== 'json') strange.push('detail=full');
  if (strange.length === 0) return action;
  throw new AppError('unrecognized_request', `${strange.join(', ')} does not go with ${name ?? 'no action'}`, {
    fix: FIX,
  });
}

function formatOf(request: FastifyRequest, query: Query): Format {
  if (query.format !== undefined) return query.format;
  return /\btext\/markdown\b/.test(request.headers.accept ?? '') ? 'markdown' : 'json';
}

async function requireAudience(context: Context, request: FastifyRequest, audience: Action['audience']): Promise<void> {
  const open =
    audience === 'anyone' ||
    (audience === 'contracts' && context.config.publicContracts) ||
    (audience === 'confirm' && context.config.publicConfirm);
  if (!open) await requireOwner(context, request);
}

/** GET /api/dispatch: every action that runs nothing. */
export function addDoorGet(app: App, context: Context): void {
  app.route({
    method: 'GET',
    url: '/api/dispatch',
    config: { fix: FIX },
    schema: {
      operationId: 'readDoor',
      summary: 'Ask, read, browse and confirm: one action per request; none for the manifest',
      tags: ['door'],
      security: [{}, { ownerKey: [] }],
      querystring: querySchema,
      response: {
        200: z.looseObject({}).meta({ description: 'The document of the action.' }),
        400: problemSchema,
        401: problemSchema,
        404: problemSchema,
      },
    },
    async handler(request, reply) {
      const action = toAction(request.query);
      await requireAudience(context, request, action.audience);
      const { query } = request;
      const byOwner = isOwner(context, request);
      const seesRows = context.config.publicContracts || byOwner;
      const document = await action.read(context, { query, format: formatOf(request, query), seesRows, byOwner });
      // What only the owner may read is kept nowhere on its way.
      const forOwner = action.audience === 'owner' || (byOwner && query.detail !== undefined);
      const cacheControl = forOwner ? 'no-store' : 'no-cache';
      return sendDocument(request, reply, { ...document, cacheControl });
    },
  });
}
