import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  LogController,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
} from 'fastify';
import { validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Context } from './context.js';
import { addDoorGet } from './door/get.js';
import { addDoorPost } from './door/post.js';
import { addOpenApi, addReference } from './openapi.js';
import { addBodyDeadline } from './plugins/body-deadline.js';
import { addCallers } from './plugins/caller.js';
import { addJsonBody } from './plugins/json-body.js';
import { collectMethods } from './plugins/methods.js';
import { addProblems, answerConnectionError, answerError } from './plugins/problem.js';
import { addDecideApproval } from './routes/approvals/decide.js';
import { addListApprovals } from './routes/approvals/list.js';
import { addListAsks } from './routes/asks/list.js';
import { addAskQuality } from './routes/asks/quality.js';
import { addChangeRow } from './routes/directory/change.js';
import { addCountRows } from './routes/directory/counts.js';
import { addCreateRow } from './routes/directory/create.js';
import { addReadVersion } from './routes/directory/diff.js';
import { addExportRows } from './routes/directory/export.js';
import { addImportRows } from './routes/directory/import.js';
import { addListRows } from './routes/directory/list.js';
import { addReadRow } from './routes/directory/read.js';
import { addRemoveRow } from './routes/directory/remove.js';
import { addReplaceRow } from './routes/directory/replace.js';
import { addRestoreVersion } from './routes/directory/restore.js';
import { addTestRow } from './routes/directory/try-examples.js';
import { addListVersions } from './routes/directory/versions.js';
import { addErrors } from './routes/errors.js';
import { addListEvents } from './routes/events/list.js';
import { addExplainGrant } from './routes/grants/explain.js';
import { addListGrants } from './routes/grants/list.js';
import { addMintGrant } from './routes/grants/mint.js';
import { addRevokeGrant } from './routes/grants/revoke.js';
import { addHealth } from './routes/health.js';
import { addListInvocations } from './routes/invocations/list.js';
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

/** How long, in ms, the headers of a request may take, and then its body. */
const REQUEST_TIMEOUT_MS = 60_000;

/** Builds the HTTP face of a process. Opens no socket and reads no environment. */
export async function buildApp(
  context: Context,
  options: { log: FastifyBaseLogger; version: string },
): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: options.log,
    // A logger for each request would cost every call what only a defect needs: its line names the request.
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    forceCloseConnections: 'idle',
    return503OnClosing: false, // answered as a problem instead
    http: { headersTimeout: REQUEST_TIMEOUT_MS },
    routerOptions: { maxParamLength: 128 },
    frameworkErrors: answerError,
    clientErrorHandler: answerConnectionError,
  });
  app.setValidatorCompiler(validatorCompiler);
  // Schemas of answers are documentation: a row that plain SQL put past a limit must not make its whole list fail.
  app.setSerializerCompiler(() => JSON.stringify);
  addProblems(app);
  addBodyDeadline(app, REQUEST_TIMEOUT_MS);
  addJsonBody(app);
  addCallers(app);
  const addOtherMethods = collectMethods(app);
  await addOpenApi(app, options.version);
  addRoutes(app.withTypeProvider<ZodTypeProvider>(), context);
  await app.register(async (scope) => addImportRows(scope.withTypeProvider<ZodTypeProvider>(), context));
  await addReference(app);
  addOtherMethods();
  return app;
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
  addReadVersion(app, context);
  addRestoreVersion(app, context);
  addTestRow(app, context);
  addExportRows(app, context);
  addMintGrant(app, context);
  addListGrants(app, context);
  addExplainGrant(app, context);
  addRevokeGrant(app, context);
  addListApprovals(app, context);
  addDecideApproval(app, context);
  addListInvocations(app, context);
  addListAsks(app, context);
  addAskQuality(app, context);
  addListEvents(app, context);
  addReceiptPage(app, context);
  addErrors(app);
  addHealth(app, context);
}
