import type { Catalogue } from '@rowcall/catalogue';
import { checkHygiene, fingerprint } from '@rowcall/contract';
import { AppError } from '@rowcall/errors';
import type { JsonObject, RowWrite } from '@rowcall/protocol';
import { isJsonObject } from '@rowcall/protocol';
import { sha256 } from '@rowcall/receipts';
import type { RowChange } from '@rowcall/store';
import type { FunctionRegistry } from '../functions/registry.js';

/** What is needed to judge a row that is to be written. */
export interface RowJudges {
  readonly catalogue: Pick<Catalogue, 'find'>;
  readonly functions: FunctionRegistry;
}

/** A rule that a row breaks, and how to mend it. */
interface RowViolation {
  readonly code: string;
  readonly message: string;
  readonly fix: string;
}

/**
 * jsonb does not keep the order of members, and positions may hang on it: a schema that gives no order of its own gets
 * the one in which its properties were written.
 */
export function keepArgumentOrder<Write extends { input_schema?: JsonObject | null | undefined }>(write: Write): Write {
  const { input_schema: schema } = write;
  if (!isJsonObject(schema) || 'x-arg-order' in schema || !isJsonObject(schema.properties)) return write;
  if (Array.isArray(schema.required) && schema.required.length > 0) return write;
  return { ...write, input_schema: { ...schema, 'x-arg-order': Object.keys(schema.properties) } };
}

function refuse(violations: readonly RowViolation[]): void {
  if (violations.length === 0) return;
  const names = violations.map(({ code }) => code).join(', ');
  throw new AppError('hygiene_refused', `the row would break: ${names}; nothing was changed`, {
    details: { violations },
  });
}

/**
 * The row as it would be stored, with its fingerprint.
 * @param stored the row that it changes, whose violations may stay.
 * @throws AppError hygiene_refused with all violations.
 */
export function toRowChange(judges: RowJudges, row: RowWrite, stored?: RowWrite): RowChange {
  const had = new Set(stored === undefined ? [] : findViolations(judges, stored).map(({ code }) => code));
  refuse(findViolations(judges, row).filter(({ code }) => !had.has(code)));
  return { row, fingerprint: fingerprintOf(judges, row) };
}

const findViolations = (judges: RowJudges, row: RowWrite): RowViolation[] => [
  ...checkHygiene(row),
  ...checkFunction(judges, row),
];

/** A function that this process does not have is found when the row is written, not when it is called. */
function checkFunction({ functions }: RowJudges, { type, target }: RowWrite): RowViolation[] {
  if (type !== 'fn' || target === '' || functions.find(target) !== undefined) return [];
  const fix = `name one of ${functions.names.join(', ')}`;
  return [{ code: 'unknown_function', message: `no function is called ${target}`, fix }];
}

function fingerprintOf({ catalogue, functions }: RowJudges, row: RowWrite): string {
  const includes = Object.fromEntries(row.includes.map((key) => [key, catalogue.find(key)?.fingerprint ?? '']));
  const functionEffect = row.type === 'fn' ? functions.effectOf(row.target) : undefined;
  return fingerprint(row, { includes, ...(functionEffect === undefined ? {} : { functionEffect }) }, sha256);
}
