import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { finishDocument } from './openapi-document.js';

const DESCRIPTION =
  'One Postgres table of capabilities. Ask for one in plain language, read its contract, invoke it, confirm the receipt.';

/** The reference loads nothing from elsewhere; its widgets style their elements inline. */
const REFERENCE_CSP =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

/** Writes the OpenAPI 3.1 document from the routes' schemas. To be added before the routes. */
export async function addOpenApi(app: FastifyInstance, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Rowcall',
        version,
        description: DESCRIPTION,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      tags: [
        { name: 'door', description: 'Ask, read, invoke, confirm.' },
        { name: 'directory', description: 'Rows: one is one capability.' },
        { name: 'grants', description: 'Tokens of bounded authority over rows.' },
        { name: 'approvals', description: 'Calls that wait for a person.' },
        { name: 'events', description: 'What happened to the deployment.' },
        { name: 'receipts', description: 'Proof of what ran.' },
        { name: 'asks', description: 'What was asked for, and how well it was found.' },
        { name: 'errors', description: 'What failures mean.' },
        { name: 'health', description: 'Probes.' },
      ],
      components: {
        securitySchemes: {
          ownerKey: {
            type: 'http',
            scheme: 'bearer',
            description: 'The owner key; the header x-terminal-key takes it as well.',
          },
          grant: {
            type: 'http',
            scheme: 'bearer',
            description: 'The token of a grant; the header x-share and the parameter share take it as well.',
          },
        },
      },
    },
    transform: jsonSchemaTransform,
    transformObject: (document) => finishDocument(jsonSchemaTransformObject(document)),
  });
}

/** Serves the document and its reference, without a request to anywhere else. To be added after the routes. */
export async function addReference(app: FastifyInstance): Promise<void> {
  // Where a browser begins that was given the bare address.
  app.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/docs'));
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: REFERENCE_CSP, uiConfig: { validatorUrl: null } });
}
