import { AppError } from '@rowcall/errors';
import { isJsonObject, type RowWrite } from '@rowcall/protocol';

/** Columns whose texts no schema looks into. */
const JSON_COLUMNS = ['input_schema', 'headers', 'limits'] as const;
const INTEGER_COLUMNS = ['seq', 'planner_rank'] as const;
const INTEGER_MAX = 2_147_483_647;

const isText = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

/** Tells whether jsonb can hold a value: it takes neither U+0000 nor half a surrogate pair, in names or texts. */
function isStorableJson(value: unknown): boolean {
  if (typeof value === 'string') return isText(value);
  if (Array.isArray(value)) return value.every(isStorableJson);
  if (!isJsonObject(value)) return true;
  return Object.entries(value).every(([name, member]) => isText(name) && isStorableJson(member));
}

/**
 * Finds what the row's schema lets pass and the database would refuse, so that one row is refused and not the whole
 * statement that it is part of. @throws AppError invalid_row.
 */
export function requireStorable(row: RowWrite): void {
  for (const column of JSON_COLUMNS) {
    if (isStorableJson(row[column])) continue;
    throw new AppError('invalid_row', `/${column} must be well-formed Unicode without U+0000`);
  }
  for (const column of INTEGER_COLUMNS) {
    if (Math.abs(row[column]) <= INTEGER_MAX) continue;
    throw new AppError('invalid_row', `/${column} must be at most ${INTEGER_MAX}`);
  }
}
