import { isJsonObject, type JsonObject, type JsonValue, toCanonicalJson } from '@rowcall/protocol';
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { makeSafePattern } from './safe-pattern.js';
import { addSafeFormats } from './schema-formats.js';
import { countMembers, findJsonExcess } from './schema-keywords.js';

/** A dialect of JSON Schema that is understood. */
export type SchemaDraft = '2020-12' | 'draft-07';

/** One way in which arguments break a schema. */
export interface SchemaError {
  /** Where in the arguments (RFC 6901); empty for the whole. */
  readonly pointer: string;
  /** The keyword that is broken, such as `required` or `type`. */
  readonly rule: string;
  readonly message: string;
}

type Validate = (args: JsonObject) => readonly SchemaError[];

/** References that one check may follow. */
const REFERENCES_MAX = 100_000;
/** Steps that the patterns of one check may take. */
const PATTERN_STEPS_MAX = 50_000_000;
/** Alternatives of a schema (members of its arrays, such as anyOf and enum) times members of the arguments. */
const COMPARISONS_MAX = 2_000_000;
/** The same product up to which every error is looked for; beyond it the first one ends the check. */
const ALL_ERRORS_COMPARISONS_MAX = 50_000;
const ERRORS_MAX = 20;
const COUNTER = 'x-rowcall-reference-counter';
const META_SCHEMAS = {
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
  'draft-07': 'http://json-schema.org/draft-07/schema',
} as const;

/** Thrown out of a check that would take too long. */
class BudgetError extends Error {}

/** What one check may still spend; set anew before each, which works because a check is synchronous. */
interface Budget {
  references: number;
  patternSteps: number;
}

const SHARED: Options = {
  strict: false,
  // Without a logger an unknown format is ignored in silence.
  logger: false,
  ownProperties: true,
};

let metaValidators: Record<SchemaDraft, Ajv> | undefined;

/** Compiles one schema, within the limits that {@link findJsonExcess} states, into a check of bounded cost. */
export function compileValidator(
  schema: JsonObject,
  draft: SchemaDraft,
): { ok: true; validate: Validate } | { ok: false; message: string } {
  const problem = findMetaProblem(schema, draft);
  if (problem !== undefined) return { ok: false, message: `input_schema is not valid: ${problem}` };
  const budget: Budget = { references: 0, patternSteps: 0 };
  try {
    const counted = toCounted(schema, draft);
    const check = makeAjv(draft, budget).compile(counted);
    if ('$async' in check)
      return { ok: false, message: 'input_schema has $async, which is not JSON Schema: remove it' };
    // Made at the first refusal: most calls fit.
    let checkAll: ValidateFunction | undefined;
    const compiled: CompiledChecks = {
      check,
      checkAll: () => {
        checkAll ??= makeAjv(draft, budget, { allErrors: true }).compile(counted);
        return checkAll;
      },
      alternatives: countAlternatives(schema),
    };
    return { ok: true, validate: (args) => runChecks(compiled, args, budget) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { ok: false, message: `input_schema does not compile: ${error.message}` };
  }
}

/** The schema is data here: it is held against the meta-schema by a validator that never compiles it. */
function findMetaProblem(schema: JsonObject, draft: SchemaDraft): string | undefined {
  metaValidators ??= { '2020-12': new Ajv2020(SHARED), 'draft-07': new Ajv(SHARED) };
  const ajv = metaValidators[draft];
  if (ajv.validate(META_SCHEMAS[draft], schema)) return undefined;
  return ajv.errorsText((ajv.errors ?? []).slice(0, 3), { dataVar: '' });
}

/** One validator a schema, so that no `$id` of one row can be reached from another. */
function makeAjv(draft: SchemaDraft, budget: Budget, more: Options = {}): Ajv {
  const options: Options = {
    ...SHARED,
    ...more,
    meta: false,
    validateSchema: false,
    inlineRefs: false,
    multipleOfPrecision: 9,
    code: { regExp: makeRegExpEngine(budget) },
  };
  const ajv = draft === '2020-12' ? new Ajv2020(options) : new Ajv(options);
  addSafeFormats(ajv);
  ajv.addKeyword({ keyword: COUNTER, schema: false, errors: false, validate: () => spendReference(budget) });
  // Ajv compares each pair of elements; this compares canonical texts, in linear time.
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must not have equal elements' },
    validate: (unique: boolean, items: JsonValue[]) =>
      !unique || new Set(items.map(toCanonicalJson)).size === items.length,
  });
  return ajv;
}

function makeRegExpEngine(budget: Budget) {
  const engine = (source: string) =>
    makeSafePattern(source, (steps) => {
      budget.patternSteps -= steps;
      if (budget.patternSteps < 0)
        throw new BudgetError('a text is too long for the pattern that it is checked against');
    });
  return Object.assign(engine, { code: 'makeSafePattern' });
}

function spendReference(budget: Budget): boolean {
  budget.references -= 1;
  if (budget.references < 0) throw new BudgetError('the schema refers to itself too often for these arguments');
  return true;
}

/**
 * A copy in which every reference is counted when it is followed, wherever it stands: references can make a small schema
 * cost exponential time. `$schema` is left out, for the dialect is chosen.
 */
function toCounted(schema: JsonObject, draft: SchemaDraft): JsonObject {
  const { $schema: _, ...rest } = schema;
  const count = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(count);
    if (!isJsonObject(value)) return value;
    const members = Object.entries(value).map(([name, member]) => [name, count(member)] as const);
    const refers = typeof value.$ref === 'string' || (draft === '2020-12' && typeof value.$dynamicRef === 'string');
    return Object.fromEntries(refers ? [[COUNTER, true], ...members] : members);
  };
  return count(rest) as JsonObject;
}

interface CompiledChecks {
  /** Ends at the first error. */
  readonly check: ValidateFunction;
  /** Looks for every error. */
  readonly checkAll: () => ValidateFunction;
  readonly alternatives: number;
}

/** Members of all arrays of a schema: what one element may have to be compared with. */
function countAlternatives(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = Array.isArray(value) ? value.length : 0;
  return Object.values(value).reduce<number>((sum, member) => sum + countAlternatives(member as JsonValue), own);
}

/** The first look ends at the first error; only where that is cheap does a second one gather them all. */
function runChecks(
  { check, checkAll, alternatives }: CompiledChecks,
  args: JsonObject,
  budget: Budget,
): readonly SchemaError[] {
  const excess = findJsonExcess(args);
  if (excess !== undefined) return [{ pointer: '', rule: 'size', message: excess }];
  const comparisons = alternatives * countMembers(args);
  if (comparisons > COMPARISONS_MAX) {
    return [{ pointer: '', rule: 'size', message: 'have too many members for a schema of so many alternatives' }];
  }
  const first = runCheck(check, args, budget);
  if (first.length === 0 || comparisons > ALL_ERRORS_COMPARISONS_MAX) return first;
  return runCheck(checkAll(), args, budget);
}

function runCheck(check: ValidateFunction, args: JsonObject, budget: Budget): readonly SchemaError[] {
  budget.references = REFERENCES_MAX;
  budget.patternSteps = PATTERN_STEPS_MAX;
  try {
    return check(args) ? [] : toSchemaErrors(check.errors ?? []);
  } catch (error) {
    if (error instanceof BudgetError) return [{ pointer: '', rule: 'size', message: error.message }];
    // A schema that refers to itself at the same place ends the stack before it ends the budget.
    if (error instanceof RangeError) return [{ pointer: '', rule: '$ref', message: 'the schema refers to itself' }];
    throw error;
  }
}

function toSchemaErrors(errors: readonly ErrorObject[]): SchemaError[] {
  return errors.slice(0, ERRORS_MAX).map(toSchemaError);
}

function toSchemaError(error: ErrorObject): SchemaError {
  const { instancePath, keyword, params } = error;
  const message = error.message ?? 'does not fit';
  switch (keyword) {
    case 'required':
      return { pointer: `${instancePath}/${toSegment(params.missingProperty)}`, rule: keyword, message: 'is required' };
    case 'additionalProperties':
      return {
        pointer: `${instancePath}/${toSegment(params.additionalProperty)}`,
        rule: keyword,
        message: 'is not an argument of this row',
      };
    case 'enum':
      return { pointer: instancePath, rule: keyword, message: toEnumMessage(params.allowedValues) };
    case 'const':
      return { pointer: instancePath, rule: keyword, message: `must be ${JSON.stringify(params.allowedValue)}` };
    default:
      return { pointer: instancePath, rule: keyword, message };
  }
}

function toEnumMessage(values: readonly JsonValue[]): string {
  const shown = values.slice(0, 12).map((value) => JSON.stringify(value));
  return `must be one of ${shown.join(', ')}${values.length > shown.length ? ', …' : ''}`;
}

const toSegment = (name: unknown) => String(name).replaceAll('~', '~0').replaceAll('/', '~1');
