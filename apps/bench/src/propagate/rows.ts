import { type RowWrite, rowWriteSchema } from '@rowcall/protocol';
import { toSubject } from '../words.js';

/**
 * A row such as people write, different for every index: seven of ten call an upstream, three of those with a schema.
 * @param revision goes into the text that is searched.
 */
export function makeBenchRow(index: number, revision = 0): RowWrite {
  const { verb, object, place } = toSubject(index);
  const shared = {
    key: `BENCH_${verb}_${object}_${index}`.toUpperCase(),
    category: `${place}s`,
    pinned_for: index % 50 === 0 ? [`${verb} every ${object} of the ${place}`] : [],
  };
  const about = [
    `# WHAT: Can ${verb} one ${object} or several of a ${place}, number ${index}, with what changed since last time.`,
    `# WHEN_TO_USE: ${verb} the ${object} of a ${place}; when somebody asks about it; not for drafts (revision ${revision}).`,
  ];
  return rowWriteSchema.parse(
    index % 10 < 3 ? toFunctionRow(shared, about) : toHttpRow(shared, about, { index, object, place }),
  );
}

function toFunctionRow(shared: object, about: readonly string[]): object {
  const content = [...about, '# ARGS: $1+=text (anything)', '# EX: text of any kind', '["$1+"]'].join('\n');
  return { ...shared, type: 'fn', target: 'ECHO', content, examples: ['text of any kind'] };
}

interface Subject {
  readonly index: number;
  readonly object: string;
  readonly place: string;
}

function toHttpRow(shared: object, about: readonly string[], { index, object, place }: Subject): object {
  const content = [
    ...about,
    `# ARGS: $1=id (of the ${object}) | $2=limit (how many, 1 to 100)`,
    `# EX: ${object}-17|25`,
    `# OUTPUT: a list of {id, name, state, updated_at, ${place}}`,
  ].join('\n');
  return {
    ...shared,
    type: 'http',
    target: `GET https://${place}-${index % 97}.example.com/v1/${object}s/$1?limit=$2&expand=owner`,
    headers: { Accept: 'application/json', 'X-Bench': String(index) },
    content,
    examples: [`${object}-17|25`, `${object}-18|1`],
    input_schema: index % 2 === 0 ? toSchema(object) : null,
    limits: index % 3 === 0 ? { timeout_ms: 5_000, max_response_bytes: 1_000_000 } : null,
  };
}

const toSchema = (object: string) => ({
  type: 'object',
  additionalProperties: false,
  required: ['id', 'limit'],
  properties: {
    id: { type: 'string', minLength: 1, maxLength: 64, description: `Which ${object}, by its id.` },
    limit: { type: 'integer', minimum: 1, maximum: 100, description: 'How many at the most.' },
  },
});
