import { AppError } from '@rowcall/errors';
import type { FastifyInstance } from 'fastify';

/** Levels of arrays and objects in a body. What walks a value takes a stack frame for each. */
export const DEPTH_MAX = 200;

/** Tells whether a value nests deeper than `levels`, however deep, without recursion. */
export function isDeeper(value: unknown, levels: number): boolean {
  let layer: unknown[] = [value];
  for (let depth = 0; ; depth += 1) {
    const containers = layer.filter((member) => typeof member === 'object' && member !== null);
    if (containers.length === 0) return false;
    if (depth === levels) return true;
    layer = containers.flatMap((container) => Object.values(container as object));
  }
}

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
      if (error === null && body.length > 2 * DEPTH_MAX && isDeeper(value, DEPTH_MAX)) {
        return done(new AppError('invalid_json', `the body nests deeper than ${DEPTH_MAX} levels`), undefined);
      }
      return done(error, value);
    });
  });
}
