import { toSubject } from '../words.js';

/** Bytes of a piece of the upload. */
const CHUNK_BYTES = 64 * 1024;

const SCHEMA_EVERY = 2;

/** Key of the row that {@link makeImportRow} makes. */
export function toImportKey(index: number): string {
  const { verb, object } = toSubject(index);
  return `LOAD_${verb}_${object}_${index}`.toUpperCase();
}

/**
 * A row such as an export of another directory holds: 400 to 700 bytes as JSON, different for every index, half of
 * them with an input_schema of their own, in which one property has a name that no other row has: objects whose members
 * have other names share nothing in memory. Plain data, so that making it costs little beside what is measured.
 */
export function makeImportRow(index: number): Readonly<Record<string, unknown>> {
  const { verb, object, place } = toSubject(index);
  const about = `# WHAT: Can ${verb} one ${object} or several of a ${place}, number ${index}.`;
  const use = `# WHEN_TO_USE: somebody has to ${verb} the ${object} of a ${place}; not for drafts.`;
  const shared = { key: toImportKey(index), category: `${place}s` };
  if (index % SCHEMA_EVERY === 0) {
    return {
      ...shared,
      type: 'http',
      target: toTarget(index),
      content: [about, use, `# OUTPUT: a list of {id, name, ${place}}`].join('\n'),
      examples: [`{"id":"${object}-17"}`],
      input_schema: toSchema(index),
    };
  }
  const args = `# ARGS: $1=id (of the ${object}) | $2=limit (how many, 1 to 100)`;
  return {
    ...shared,
    type: 'http',
    target: toTarget(index),
    headers: { Accept: 'application/json', 'X-Source': String(index) },
    content: [about, use, args, `# EX: ${object}-17|25`, `# OUTPUT: a list of {id, ${place}}`].join('\n'),
    examples: [`${object}-17|25`],
  };
}

function toTarget(index: number): string {
  const { object, place } = toSubject(index);
  return index % SCHEMA_EVERY === 0
    ? `GET https://${place}-${index % 97}.example.com/v1/${object}s/{id}{?limit}`
    : `GET https://${place}-${index % 97}.example.com/v1/${object}s/$1?limit=$2`;
}

function toSchema(index: number): object {
  const { object, place } = toSubject(index);
  return {
    type: 'object',
    required: ['id'],
    additionalProperties: false,
    properties: {
      id: { type: 'string', maxLength: 16 + (index % 48), description: `Of ${object} ${index}.` },
      limit: { type: 'integer', minimum: 1, maximum: 100 + (index % 400) },
      [`${place}_${index}`]: { enum: [`north-${index % 13}`, `south-${index % 17}`] },
    },
  };
}

/** A line that is no row: cut off. */
const BAD_LINE = '{"key":"LOAD_CUT_OFF","type":"fn"';

/** The 1-based line at which {@link makeUpload} puts a bad one: in the middle. */
export const toBadLineNumber = (rows: number): number => Math.floor(rows / 2) + 1;

/** The NDJSON of `rows` rows and of one bad line in their middle, made as it is read. */
export function* makeUpload(rows: number): Generator<Buffer, void> {
  const badAt = toBadLineNumber(rows) - 1;
  let text = '';
  for (let index = 0; index < rows; index += 1) {
    if (index === badAt) text += `${BAD_LINE}\n`;
    text += `${JSON.stringify(makeImportRow(index))}\n`;
    if (text.length < CHUNK_BYTES) continue;
    yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}
