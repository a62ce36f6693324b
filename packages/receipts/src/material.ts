import { isJsonObject, type JsonValue } from '@rowcall/protocol';

const isEmpty = (value: JsonValue): boolean =>
  value === null ||
  (typeof value === 'string' && value.trim() === '') ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** JSON that reports a failure on the success channel: `ok: false`, an `error`, or `skipped`. */
function saysItFailed(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  return value.ok === false || isRaised(value.error) || isRaised(value.skipped);
}

const isRaised = (flag: JsonValue | undefined): boolean => flag !== undefined && flag !== false && !isEmpty(flag);

/** Tells whether the output of a run that did not fail is usable: not empty, and not JSON that says it failed. */
export function isMaterial(result: JsonValue): boolean {
  return !isEmpty(result) && !saysItFailed(result);
}
