import type { JsonValue, Receipt } from '@rowcall/protocol';
import jsonPatch from 'fast-json-patch';

/** Changes that a verdict names, and characters of the results that it compares: a verdict must not outgrow what it judges. */
const CHANGES_MAX = 50;
const COMPARED_CHARACTERS_MAX = 1_048_576;

/** What a replay says of the call that it fired again. */
export interface ReplayVerdict {
  readonly of: string;
  /** `definition_changed`: the row is not the one that was called, so that another output proves nothing. */
  readonly verdict: 'same' | 'different' | 'definition_changed';
  readonly outcomes: { readonly before: Receipt['outcome']; readonly after: Receipt['outcome'] };
  /** What leads from the first output to the second (RFC 6902), at most 50 operations; absent when it was not compared. */
  readonly changes?: readonly JsonValue[];
  /** True when there are more changes than are named. */
  readonly more?: true;
}

/** A call with its output, redacted, as JSON text; null when it is not kept. */
export interface JudgedCall {
  readonly receipt: Receipt;
  readonly result: string | null;
}

/** Compares a call with its replay, by the hashes of what really came out. */
export function judgeReplay(original: JudgedCall, replay: JudgedCall): ReplayVerdict {
  const before = original.receipt;
  const after = replay.receipt;
  const isSame = before.output_hash === after.output_hash && before.outcome === after.outcome;
  const isSameRow = before.contract_fingerprint === after.contract_fingerprint;
  return {
    of: before.id,
    verdict: !isSameRow ? 'definition_changed' : isSame ? 'same' : 'different',
    outcomes: { before: before.outcome, after: after.outcome },
    ...(isSame ? {} : listChanges(original.result, replay.result)),
  };
}

function listChanges(before: string | null, after: string | null): Pick<ReplayVerdict, 'changes' | 'more'> {
  if (before === null || after === null || before.length + after.length > COMPARED_CHARACTERS_MAX) return {};
  // In an object each, since a patch has no word for another whole document.
  const operations = jsonPatch.compare({ result: JSON.parse(before) }, { result: JSON.parse(after) });
  const changes = operations.slice(0, CHANGES_MAX).map((operation) => ({
    ...operation,
    path: operation.path.slice('/result'.length),
  })) as unknown as JsonValue[];
  return operations.length > CHANGES_MAX ? { changes, more: true } : { changes };
}
