import { STATUS_CODES } from 'node:http';
import { ERROR_CODES } from '@rowcall/errors';

interface Response {
  description: string;
  content?: Record<string, { schema?: { $ref?: string; type?: string } }>;
}
interface Operation {
  operationId?: string;
  requestBody?: { required?: boolean; content: Record<string, { schema?: object }> };
  responses: Record<string, Response>;
}
/** What is touched of an OpenAPI 3.1 document. */
interface OpenApiDocument {
  paths?: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, object>; [kind: string]: unknown };
}

const PROBLEM = { $ref: '#/components/schemas/Problem' };
const GENERATED_DESCRIPTION = 'Default Response';
const SUCCESSES: Readonly<Record<string, string>> = { 200: 'Done.', 201: 'Made.', 202: 'Queued.' };

const NDJSON = 'application/x-ndjson';
const EVENT_STREAM = 'text/event-stream';
const FRAMES = {
  type: 'string',
  description: 'Server-sent events: `id`, `event` (the kind), `data` (an Event as JSON).',
};
const LINES = { type: 'string', description: 'One row a line, each as createRow takes it.' };

/** Bodies of lines, and streams: no schema of a route can say what they are made of. */
function describeTexts(operations: readonly Operation[]): void {
  const find = (id: string) => operations.find(({ operationId }) => operationId === id);
  const row = find('createRow')?.requestBody?.content['application/json']?.schema ?? {};
  const [imported, exported] = [find('importRows'), find('exportRows')?.responses[200]];
  const followed = find('listEvents')?.responses[200];
  if (imported !== undefined) {
    const rows = { type: 'array', items: row };
    imported.requestBody = {
      required: true,
      content: { [NDJSON]: { schema: LINES }, 'application/json': { schema: rows } },
    };
  }
  if (followed !== undefined) followed.content = { ...followed.content, [EVENT_STREAM]: { schema: FRAMES } };
  if (exported !== undefined) exported.content = { [NDJSON]: { schema: LINES } };
}

/** Completes what the routes' schemas cannot say: what answers mean, the type of problems, and which schemas are used. */
export function finishDocument<Document extends object>(given: Document): Document {
  const document = structuredClone(given) as OpenApiDocument;
  const operations = Object.values(document.paths ?? {}).flatMap((methods) => Object.values(methods));
  for (const operation of operations) finishOperation(operation);
  describeTexts(operations);
  return renameInputs(dropUnused(document)) as Document;
}

/** Operations whose body may be left out: every member of it may. */
const OPTIONAL_BODIES = new Set(['approveCall', 'denyCall', 'attenuateGrant']);

function finishOperation(operation: Operation): void {
  const { responses, operationId = '', requestBody } = operation;
  if (requestBody !== undefined && OPTIONAL_BODIES.has(operationId)) requestBody.required = false;
  for (const [status, response] of Object.entries(responses)) {
    if (response.description === GENERATED_DESCRIPTION) response.description = toDescription(status);
    const schema = response.content?.['application/json']?.schema;
    if (schema?.$ref === PROBLEM.$ref) response.content = { 'application/problem+json': { schema } };
  }
  for (const [range, description] of [
    ['4XX', 'The request was refused.'],
    ['5XX', 'The server cannot serve the request.'],
  ] as const) {
    responses[range] = { description, content: { 'application/problem+json': { schema: PROBLEM } } };
  }
}

/** The failures that answer with a status, by their titles. */
function toDescription(status: string): string {
  const failures = Object.entries(ERROR_CODES).filter(([, entry]) => String(entry.status) === status);
  if (failures.length === 0) return SUCCESSES[status] ?? STATUS_CODES[status] ?? status;
  return failures.map(([code, { title }]) => `\`${code}\`: ${title}.`).join(' ');
}

const SCHEMA_REFERENCE = /"#\/components\/schemas\/([^"]+)"/g;

const namesIn = (part: unknown): string[] =>
  [...JSON.stringify(part ?? null).matchAll(SCHEMA_REFERENCE)].map(([, name = '']) => name);

/** Every schema that has an id comes into the document; those that no operation leads to only make clients larger. */
function dropUnused(document: OpenApiDocument): OpenApiDocument {
  const schemas = document.components?.schemas ?? {};
  const used = new Set<string>();
  const open = namesIn(document.paths);
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (used.has(name)) continue;
    used.add(name);
    open.push(...namesIn(schemas[name]));
  }
  const kept = Object.entries(schemas).filter(([name]) => used.has(name));
  kept.sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(kept) } };
}

/** A schema that is only sent has the suffix Input, for no reason where there is no other of its name. */
function renameInputs(document: OpenApiDocument): OpenApiDocument {
  const names = new Set(Object.keys(document.components?.schemas ?? {}));
  const rename = (name: string): string => {
    const bare = name.replace(/Input$/, '');
    return names.has(bare) ? name : bare;
  };
  const text = JSON.stringify(document).replace(SCHEMA_REFERENCE, (_reference, name: string) =>
    JSON.stringify(`#/components/schemas/${rename(name)}`),
  );
  const renamed = JSON.parse(text) as OpenApiDocument;
  const schemas = Object.entries(renamed.components?.schemas ?? {}).map(([name, schema]) => [rename(name), schema]);
  return { ...renamed, components: { ...renamed.components, schemas: Object.fromEntries(schemas) } };
}
