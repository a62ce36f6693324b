import { RE2JS } from 're2js';
import { scanPattern } from './pattern-scan.js';

/** Characters that a pattern of a schema may have. */
export const PATTERN_CHARS_MAX = 4_096;

/** Takes the steps that one match may need out of what is left; throws when too little is left. */
export type SpendSteps = (steps: number) => void;

/** What a schema validator needs of a regular expression. */
export interface SafePattern {
  readonly test: (text: string) => boolean;
  /** The pattern; the validator tells patterns apart by it. */
  readonly toString: () => string;
}

/**
 * Prepares a pattern (ECMA-262) so that no text can hold the process up.
 *
 * A pattern whose time is plainly linear runs natively. Others run on a matcher that is linear by construction (RE2).
 * What only a backtracking matcher can do (look-around, back-references, repetitions over 1,000) runs natively as long as
 * nothing is repeated inside a repetition. Each match first spends the steps that it may need at worst.
 *
 * @throws Error when the pattern is not valid, too long, or could take exponential time; the message is for the row's author
 */
export function makeSafePattern(source: string, spend: SpendSteps): SafePattern {
  if (source.length > PATTERN_CHARS_MAX) {
    throw new Error(`a pattern has ${source.length} characters; at most ${PATTERN_CHARS_MAX} are allowed`);
  }
  const native = toNative(source);
  const scan = scanPattern(source);
  const linear = !scan.nested && scan.degree <= 1 && scan.choices <= 4;
  const re2 = linear ? null : compileRe2(scan.re2);
  if (re2 !== null) {
    const steps = re2.programSize();
    return toSafe(source, (text) => {
      spend(text.length * steps);
      return re2.matcher(text).find();
    });
  }
  if (scan.nested) {
    throw new Error(
      `pattern ${JSON.stringify(source)} could take unbounded time: write it without a repetition inside a repetition, or without look-around and back-references`,
    );
  }
  const factor = 2 ** scan.choices;
  return toSafe(source, (text) => {
    spend(factor * text.length ** scan.degree);
    return native.test(text);
  });
}

const toSafe = (source: string, test: SafePattern['test']): SafePattern => ({ test, toString: () => source });

function toNative(source: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch {
    // Many published patterns escape more than Unicode mode allows: [\w-\.]
    return new RegExp(source);
  }
}

function compileRe2(source: string | null): RE2JS | null {
  try {
    return source === null ? null : RE2JS.compile(source);
  } catch {
    return null;
  }
}
