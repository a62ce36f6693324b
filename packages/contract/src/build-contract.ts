import type { Effect, Row } from '@rowcall/protocol';
import { type CallExample, findExample } from './call-example.js';
import { CONTRACT_BYTES_MAX, type Contract } from './contract.js';
import { type ArgumentDoc, type Docstring, parseDocstring } from './docstring.js';
import { deriveRisk } from './effect.js';
import { type CompiledSchema, compileInputSchema } from './input-schema.js';
import { toJsonTypes, toProperties } from './schema-keywords.js';
import { cutToBytes, toByteLength, toDisplayLine, toJsonTextBytes } from './text.js';

/** What a contract says that does not stand in the row. */
export interface ContractOptions {
  readonly fingerprint: string;
  readonly effect: Effect;
  /** Public address of the server without a slash at its end; over 100 bytes the links are relative. */
  readonly baseUrl: string;
}

const OUTCOME = '200 {ok, ran, trace, result, proof, cost, links} once it ran; ok false: error.code says why';
const ERRORS = 'not run: 4xx or 5xx problem {status, error, detail, fix}';
const BASE_URL_BYTES_MAX = 100;
/** Room for `,"stale_since":"…"`, which an answer from memory adds while the database is away. */
const STALENESS_BYTES = 44;
/** An example of a row with a schema may be larger, for so is its contract. */
const SCHEMA_EXAMPLE_BYTES_MAX = 4_096;
const NAME_BYTES_MAX = 48;
const NOTE_BYTES_MAX = 96;
const SHAPE_NAMES_MAX = 20;
const SHAPE_BYTES_MAX = 160;

type Position = Contract['arguments']['positions'][number];

/**
 * Builds the contract of a row. The row's texts are shown as single lines; where they do not fit they end in an ellipsis,
 * long examples are passed over, and `truncated` says so.
 *
 * @throws Error when the row's stored schema does not compile, which hygiene excludes
 */
export function buildContract(row: Row, options: ContractOptions): Contract {
  const { doc } = parseDocstring(row.content, row.type);
  const compiled = compileStored(row);
  const skeleton = toSkeleton(row, options, compiled, doc);
  const budget = makeBudget(CONTRACT_BYTES_MAX - STALENESS_BYTES - 1 - toByteLength(JSON.stringify(skeleton)));
  const example = fitExample(row, doc, compiled, budget);
  const what = budget.cut(doc.what, 0.5);
  const whenToUse = budget.cut(doc.whenToUse, 0.5);
  const positions = compiled === undefined ? fitPositions(doc.args, budget) : toSchemaPositions(compiled);
  const { truncated: _, ...rest } = skeleton;
  return {
    ...rest,
    what,
    when_to_use: whenToUse,
    arguments: { positions, ...(row.input_schema === null ? {} : { schema: row.input_schema }) },
    example,
    ...(budget.exceeded() ? { truncated: true as const } : {}),
  };
}

function compileStored(row: Row): CompiledSchema | undefined {
  if (row.input_schema === null) return undefined;
  const compiled = compileInputSchema(row.input_schema);
  if (!compiled.ok) throw new Error(`row ${row.key}: ${compiled.message}`);
  return compiled;
}

/** The contract without the row's texts: what is left of the limit is theirs. */
function toSkeleton(
  row: Row,
  options: ContractOptions,
  compiled: CompiledSchema | undefined,
  doc: Docstring,
): Contract {
  const short = toByteLength(options.baseUrl) <= BASE_URL_BYTES_MAX;
  const door = `${short ? options.baseUrl : ''}/api/dispatch`;
  return {
    key: row.key,
    type: row.type,
    what: '',
    when_to_use: '',
    arguments: { positions: [] },
    example: null,
    effect: options.effect,
    risk: deriveRisk(row),
    call: {
      method: 'POST',
      path: '/api/dispatch',
      body: compiled === undefined ? toBodyShape(row.key, doc.args) : toArgsShape(row.key, compiled),
    },
    outcome: OUTCOME,
    errors: ERRORS,
    fingerprint: options.fingerprint,
    version: row.version,
    enabled: row.enabled,
    links: {
      contract_markdown: `${door}?key=${row.key}&format=markdown`,
      skill: `${door}?key=${row.key}&format=skill`,
      map: `${door}?map=1`,
    },
    truncated: true,
  };
}

function toBodyShape(key: string, docs: readonly ArgumentDoc[]): CallExample {
  const names = docs.slice(0, SHAPE_NAMES_MAX).map(({ name }) => `<${toDisplayLine(name)}>`);
  return { key, body: cutToBytes(names.join('|'), SHAPE_BYTES_MAX, toJsonTextBytes).text };
}

function toArgsShape(key: string, { schema, order }: CompiledSchema): CallExample {
  const properties = toProperties(schema);
  const members = order.slice(0, SHAPE_NAMES_MAX).map((name) => {
    const types = Object.hasOwn(properties, name) ? [...toJsonTypes(schema, properties[name])] : [];
    return [name, `<${types.join(' or ') || 'any'}>`] as const;
  });
  return { key, args: Object.fromEntries(members) };
}

function toSchemaPositions({ order }: CompiledSchema): Position[] {
  return order.map((name, index) => ({ position: index + 1, name }));
}

/** Bytes of JSON text that are left to the row's texts, and whether anything had to give way. */
interface Budget {
  readonly left: () => number;
  readonly spend: (bytes: number) => void;
  readonly drop: () => void;
  /** A text as one line within `share` of what is left. */
  readonly cut: (text: string, share: number) => string;
  readonly exceeded: () => boolean;
}

function makeBudget(bytes: number): Budget {
  let left = bytes;
  let exceeded = false;
  return {
    left: () => left,
    spend: (spent) => {
      left -= spent;
    },
    drop: () => {
      exceeded = true;
    },
    cut: (text, share) => {
      const fitted = cutToBytes(toDisplayLine(text), Math.floor(left * share), toJsonTextBytes);
      left -= toJsonTextBytes(fitted.text);
      exceeded ||= fitted.cut;
      return fitted.text;
    },
    exceeded: () => exceeded,
  };
}

function fitExample(
  row: Row,
  doc: Docstring,
  compiled: CompiledSchema | undefined,
  budget: Budget,
): CallExample | null {
  const bytesMax = compiled === undefined ? Math.floor(budget.left() / 2) : SCHEMA_EXAMPLE_BYTES_MAX;
  const isShort = (example: CallExample) => toByteLength(JSON.stringify(example)) <= bytesMax;
  const example = findExample(compiled, { row, doc }, 'body', isShort);
  if (example === null) {
    if (row.examples.length + doc.ex.length > 0) budget.drop();
  } else if (compiled === undefined) budget.spend(toByteLength(JSON.stringify(example)));
  return example;
}

function fitPositions(docs: readonly ArgumentDoc[], budget: Budget): Position[] {
  const positions: Position[] = [];
  for (const doc of docs) {
    const position = toPosition(doc, budget);
    const bytes = toByteLength(JSON.stringify(position)) + 1;
    if (bytes > budget.left()) {
      budget.drop();
      break;
    }
    budget.spend(bytes);
    positions.push(position);
  }
  return positions;
}

function toPosition(doc: ArgumentDoc, budget: Budget): Position {
  const name = cutToBytes(toDisplayLine(doc.name), NAME_BYTES_MAX, toJsonTextBytes);
  const note = cutToBytes(toDisplayLine(doc.note), NOTE_BYTES_MAX, toJsonTextBytes);
  if (name.cut || note.cut) budget.drop();
  return {
    position: doc.position,
    name: name.text,
    ...(note.text === '' ? {} : { note: note.text }),
    ...(doc.openEnded ? { open_ended: true as const } : {}),
  };
}
