import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
} from 'fastify';
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Context } from './context.js';
import { addDoorGet } from './door/get.js';
import { addDoorPost } from './door/post.js';
import { addOpenApi, addReference } from './openapi.js';
import { addProblems } from './plugins/problem.js';
import { addChangeRow } from './routes/directory/change.js';
import { addCountRows } from './routes/directory/counts.js';
import { addCreateRow } from './routes/directory/create.js';
import { addListRows } from './routes/directory/list.js';
import { addReadRow } from './routes/directory/read.js';
import { addRemoveRow } from './routes/directory/remove.js';
import { addReplaceRow } from './routes/directory/replace.js';
import { addListVersions } from './routes/directory/versions.js';
import { addErrors } from './routes/errors.js';
import { addHealth } from './routes/health.js';
import { addReceiptPage } from './routes/receipt-page.js';

/** The Fastify instance that routes are added to: types of a request follow from the route's Zod schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** Bytes of a request body: a row's content may have 1 MiB, and JSON escapes take their share. */
const BODY_LIMIT = 4 * 1024 * 1024;

/** Builds the HTTP face of a process. Opens no socket and reads no environment. */
export async function buildApp(
  context: Context,
  options: { log: FastifyBaseLogger; version: string },
): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: options.log,
    disableRequestLogging: true,
    bodyLimit: BODY_LIMIT,
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    requestTimeout: 60_000,
    routerOptions: { maxParamLength: 128 },
  }).withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  addProblems(app as unknown as FastifyInstance);
  await addOpenApi(app as unknown as FastifyInstance, options.version);
  addRoutes(app, context);
  await addReference(app as unknown as FastifyInstance);
  return app as unknown as FastifyInstance;
}

function addRoutes(app: App, context: Context): void {
  addDoorGet(app, context);
  addDoorPost(app, context);
  addListRows(app, context);
  addCountRows(app, context);
  addCreateRow(app, context);
  addReadRow(app, context);
  addReplaceRow(app, context);
  addChangeRow(app, context);
  addRemoveRow(app, context);
  addListVersions(app, context);
  addReceiptPage(app, context);
  addErrors(app);
  addHealth(app, context);
}
