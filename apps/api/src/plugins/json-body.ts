import { AppError } from '@rowcall/errors';
import { isDeeper, JSON_DEPTH_MAX } from '@rowcall/protocol';
import type { FastifyInstance } from 'fastify';

/**
 * Reads JSON bodies and nothing else; any other content type is 415. `__proto__` and `constructor.prototype` are
 * refused, and so is what nests deeper than 200 levels. A DELETE may name the type and send no body.
 */
export function addJsonBody(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '' && request.method === 'DELETE') return done(null, undefined);
    return parse(request, body as string, (error: Error | null, value?: unknown) => {
      // A text of fewer brackets than levels cannot nest deeper.
      if (error === null && body.length > 2 * JSON_DEPTH_MAX && isDeeper(value, JSON_DEPTH_MAX)) {
        return done(new AppError('invalid_json', `the body nests deeper than ${JSON_DEPTH_MAX} levels`), undefined);
      }
      return done(error, value);
    });
  });
}
