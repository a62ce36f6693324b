import type { Caller } from '@rowcall/engine';
import { AppError } from '@rowcall/errors';
import { askIdSchema, dispatchBodySchema, EFFECTS, problemSchema, ROW_TYPES } from '@rowcall/protocol';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { App } from '../app.js';
import type { Context, DoorContext } from '../context.js';
import { toNetwork } from '../failure-limit.js';
import { findReader, toView } from '../plugins/caller.js';
import { refuseCredential } from '../plugins/owner.js';
import { shareParam } from '../routes/query.js';
import { sendAnswer } from './answer.js';
import { ask } from './ask.js';
import { confirm } from './confirm.js';
import { type Document, type Format, readContract } from './contract.js';
import { readFullContract } from './contract-full.js';
import { explainGrant } from './explain.js';
import { invokeByLink } from './invoke-link.js';
import { manifestToMarkdown, readManifest } from './manifest.js';
import { readMap } from './map.js';
import { readReceipt } from './receipt.js';
import { listRegistry, REGISTRY_LIMIT_MAX } from './registry.js';
import { sendDocument } from './send.js';

const querySchema = z.strictObject({
  ask: z.string().min(1).optional().meta({
    description:
      'Search in plain language: describe the capability wanted (verb, object, system) rather than the whole task. 2,000 characters are read. Answers best {key, send, contract}, confidence, matches, steps, ask_id.',
    example: 'what time is it',
  }),
  key: z.string().min(1).max(256).optional().meta({ description: "Read this row's contract.", example: 'NOW' }),
  map: z.string().min(1).max(128).optional().meta({ description: '1 for the root, or the name of a category.' }),
  registry: z.literal('1').optional().meta({ description: 'List flat descriptors.' }),
  schema: z.literal('invocation').optional().meta({ description: 'JSON Schema of an invocation.' }),
  confirm: z.string().min(1).max(64).optional().meta({ description: 'Public proof of a receipt.' }),
  receipt: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .meta({ description: 'Everything about a receipt, for who made the call, the owner, and read grants.' }),
  explain: z.string().min(1).max(64).optional().meta({
    description:
      '1: what the token may do that the request presents; cap_…: what that grant may do. With ask, 1: what scores are made of.',
  }),
  invoke: z.string().min(1).max(256).optional().meta({ description: 'Run a row, by the token of a grant alone.' }),
  body: z.string().max(16_384).optional().meta({ description: 'With invoke: arguments split on "|".' }),
  args: z.string().max(16_384).optional().meta({ description: 'With invoke: arguments by name, a JSON object.' }),
  ask_id: askIdSchema
    .optional()
    .meta({ description: 'With key or invoke: ask_id of the answer that led there, to measure the search.' }),
  share: shareParam,
  audience: z.string().max(256).optional().meta({ description: 'Whom the call comes from, for a grant bound to one.' }),
  format: z.enum(['json', 'markdown', 'skill']).optional(),
  detail: z
    .literal('full')
    .optional()
    .meta({ description: 'With key, as JSON: failures, near rows, history, measurements.' }),
  category: z.string().max(128).optional().meta({ description: 'With registry or ask: rows of this category alone.' }),
  type: z.enum(ROW_TYPES).optional().meta({ description: 'With ask: rows of this type alone.' }),
  effect: z.enum(EFFECTS).optional().meta({ description: 'With ask: rows of this effect alone.' }),
  contract: z.literal('false').optional().meta({ description: 'With ask: the best row without its contract.' }),
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
  /** Undefined for anyone. */
  readonly reader: Caller | undefined;
  /** What tells readers without a credential apart. */
  readonly network: string;
  /** Whether the reader may know what rows there are. */
  readonly seesRows: boolean;
}

const isOwner = (reader: Caller | undefined): boolean => reader?.chain.length === 0;

/** The reader of an action that is for callers: without one it is not read. */
function known(reader: Caller | undefined): Caller {
  if (reader === undefined) throw new Error('an action for callers was read by nobody');
  return reader;
}

interface Action {
  /** Parameters that may come with the action. */
  readonly companions: readonly (keyof Query)[];
  /** What decides whether a caller without a credential may read it. */
  readonly audience: 'contracts' | 'confirm' | 'caller' | 'anyone';
  /** @param door the context, with the rows that the reader may know of. */
  read(door: DoorContext, view: View): Document | Promise<Document>;
}

const { $schema, $defs } = z.toJSONSchema(dispatchBodySchema, { io: 'input' });
/** Flat, where the OpenAPI document refers to a component. */
const INVOCATION_SCHEMA = {
  $schema,
  ...$defs?.DispatchRequest,
  anyOf: [{ required: ['key'] }, { required: ['replay'] }],
  not: { required: ['body', 'args'] },
};

/** The contract of a row; that it was read belongs to the ask that led there. */
async function readRow(door: DoorContext, { query, format, reader }: View): Promise<Document> {
  const { key = '', detail, share, ask_id: id } = query;
  const document =
    detail === undefined
      ? readContract(door, key, { format, reader, share })
      : await readFullContract(door, key, isOwner(reader));
  if (id !== undefined) door.asks.noteRead({ id, key, actor: reader?.actor });
  return document;
}

async function answerAsk(door: DoorContext, { query, reader, network }: View): Promise<Document> {
  const { ask: question = '', category, type, effect, share } = query;
  const options = { contract: query.contract === undefined, explain: query.explain === '1', category, type, effect };
  const { document, engineMs } = await ask(door, question, { ...options, reader, share, network });
  return { ...json(document), engineMs };
}

const ACTIONS = {
  ask: {
    companions: ['category', 'type', 'effect', 'contract', 'explain'],
    audience: 'contracts',
    read: answerAsk,
  },
  key: {
    companions: ['format', 'detail', 'ask_id'],
    audience: 'contracts',
    read: readRow,
  },
  map: {
    companions: [],
    audience: 'contracts',
    read: (door, { query }) => json(readMap(door, query.map ?? '1')),
  },
  registry: {
    companions: ['category', 'limit', 'cursor'],
    audience: 'contracts',
    read: (door, { query: { category, cursor, limit = 100 } }) =>
      json(
        listRegistry(door, {
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
    read: async (door, { query }) => json(await confirm(door, query.confirm ?? '')),
  },
  receipt: {
    companions: [],
    audience: 'caller',
    read: async (door, { query, reader }) => json(await readReceipt(door, query.receipt ?? '', known(reader))),
  },
  explain: {
    companions: [],
    audience: 'caller',
    read: async (door, { query, reader }) => json(await explainGrant(door, known(reader), query.explain ?? '')),
  },
} as const satisfies Record<string, Action>;

const MANIFEST: Action = {
  companions: ['format'],
  audience: 'anyone',
  read: (door, { format, seesRows }) =>
    format === 'json' ? json(readManifest(door, seesRows)) : markdown(manifestToMarkdown(door, seesRows)),
};

/** Goes with every action: who reads may say it in the address. */
const ALWAYS: readonly (keyof Query)[] = ['share', 'audience'];

const FIX = `the actions are ${[...Object.keys(ACTIONS), 'invoke'].join(', ')}; GET /api/dispatch explains them`;

/** With ask, explain=1 is no action of its own: it asks what the scores are made of. */
const isExplainedAsk = (query: Query, name: string): boolean =>
  name === 'explain' && query.ask !== undefined && query.explain === '1';

/** The one action that a query asks for. @throws AppError unrecognized_request naming what does not go together. */
function toAction(query: Query): Action | 'invoke' {
  const given = Object.keys(query);
  const names = given.filter(
    (name): name is keyof typeof ACTIONS | 'invoke' =>
      (Object.hasOwn(ACTIONS, name) && !isExplainedAsk(query, name)) || name === 'invoke',
  );
  const [name] = names;
  if (names.length > 1) {
    throw new AppError('unrecognized_request', `one action per request, not ${names.join(' and ')}`, { fix: FIX });
  }
  const action = name === undefined ? MANIFEST : name === 'invoke' ? name : ACTIONS[name];
  const companions: readonly (keyof Query)[] = action === 'invoke' ? ['body', 'args', 'ask_id'] : action.companions;
  const known = [name, ...companions, ...ALWAYS];
  const strange = given.filter((param) => !known.includes(param as keyof Query));
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

/** @throws AppError unauthorized for a reader that the action is not open to. */
async function requireAudience(
  context: Context,
  request: FastifyRequest,
  { reader, audience }: Pick<View, 'reader'> & Pick<Action, 'audience'>,
): Promise<void> {
  const open =
    audience === 'anyone' ||
    reader !== undefined ||
    (audience === 'contracts' && context.config.publicContracts) ||
    (audience === 'confirm' && context.config.publicConfirm);
  if (!open) await refuseCredential(context, request);
}

async function toReaderView(context: Context, request: FastifyRequest, query: Query): Promise<View> {
  const reader = await findReader(context, request);
  const seesRows = context.config.publicContracts || reader !== undefined;
  return { query, format: formatOf(request, query), reader, network: toNetwork(request.ip), seesRows };
}

/** GET /api/dispatch: every action that only reads, and the one that runs a row by a link. */
export function addDoorGet(app: App, context: Context): void {
  app.route({
    method: 'GET',
    url: '/api/dispatch',
    config: { fix: FIX },
    schema: {
      operationId: 'readDoor',
      summary: 'Ask, read, browse and confirm: one action per request; none for the manifest',
      description: 'With invoke, and the token of a grant, it runs a row: for links. All else only reads.',
      tags: ['door'],
      security: [{}, { ownerKey: [] }, { grant: [] }],
      querystring: querySchema,
      response: {
        200: z.looseObject({}).meta({ description: 'The document of the action.' }),
        202: z.looseObject({}).meta({ description: 'With invoke: the call waits for a person.' }),
        400: problemSchema,
        401: problemSchema,
        403: problemSchema,
        404: problemSchema,
      },
    },
    async handler(request, reply) {
      const { query } = request;
      // A token may stand in the address: it is told to nobody that is linked from here.
      if (query.share !== undefined) reply.header('referrer-policy', 'no-referrer');
      const action = toAction(query);
      if (action === 'invoke') {
        return sendAnswer(reply, await invokeByLink(context, request, { ...query, invoke: query.invoke ?? '' }));
      }
      const view = await toReaderView(context, request, query);
      await requireAudience(context, request, { reader: view.reader, audience: action.audience });
      const document = await action.read({ ...context, catalogue: toView(context, view.reader) }, view);
      // What only this reader may read is kept nowhere on its way.
      const isPrivate = action.audience === 'caller' || view.reader !== undefined;
      return sendDocument(request, reply, { ...document, cacheControl: isPrivate ? 'no-store' : 'no-cache' });
    },
  });
}
