import { AppError, ERROR_CODES, isErrorCode } from '@rowcall/errors';
import { problemSchema } from '@rowcall/protocol';
import { z } from 'zod';
import type { App } from '../app.js';

/** GET /errors/{code}: what a failure means and what to do; the `type` of every problem leads here. */
export function addErrors(app: App): void {
  app.route({
    method: 'GET',
    url: '/errors/:code',
    schema: {
      operationId: 'explainError',
      summary: 'Explain a failure code',
      tags: ['errors'],
      security: [{}],
      params: z.strictObject({ code: z.string().max(64) }),
      response: {
        200: z.object({ code: z.string(), status: z.int(), title: z.string(), fix: z.string() }),
        404: problemSchema,
      },
    },
    async handler({ params: { code } }) {
      if (!isErrorCode(code)) throw new AppError('not_found', 'no failure has that code');
      return { code, ...ERROR_CODES[code] };
    },
  });
}
