import { AppError } from '@rowcall/errors';
import { isDeeper, JSON_DEPTH_MAX } from '@rowcall/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Every member of the body may be left out, and so may the body: it is `{}` then. */
    optionalBody?: boolean;
  }
}

const mayBeEmpty = ({ method, routeOptions }: FastifyRequest): boolean =>
  method === 'DELETE' || routeOptions.config.optionalBody === true;

/**
 * Reads JSON bodies and nothing else; any other content type is 415. `__proto__` and `constructor.prototype` are
 * refused, and so is what nests deeper than 200 levels. A DELETE, and a route with an optional body, may be sent the type
 * and no body.
 */
export function addJsonBody(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.routeOptions.config.optionalBody === true) request.body ??= {};
    done();
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '' && mayBeEmpty(request)) return done(null, undefined);
    return parse(request, body as string, (error: Error | null, value?: unknown) => {
      // A text of fewer brackets than levels cannot nest deeper.
      if (error === null && body.length > 2 * JSON_DEPTH_MAX && isDeeper(value, JSON_DEPTH_MAX)) {
        return done(new AppError('invalid_json', `the body nests deeper than ${JSON_DEPTH_MAX} levels`), undefined);
      }
      return done(error, value);
    });
  });
}
