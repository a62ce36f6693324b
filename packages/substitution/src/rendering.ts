import { AppError } from '@rowcall/errors';
import { isJsonObject, type JsonValue } from '@rowcall/protocol';
import type { Arguments } from './arguments.js';
import { isLongerThan, RENDERED_BYTES_MAX } from './limits.js';
import type { UsedArguments } from './parsing.js';
import type { Hole, PathStep } from './reference.js';

/** One rendering: looks values up, and counts what is put out against the limit. */
export class Rendering {
  private readonly args: Arguments;
  private readonly used: UsedArguments;
  private charsLeft = RENDERED_BYTES_MAX;
  private unused: ReadonlyArray<readonly [string, JsonValue]> | undefined;

  constructor(args: Arguments, used: UsedArguments) {
    this.args = args;
    this.used = used;
  }

  /** A named argument, else a flow binding; own members only, so no name reaches a prototype. */
  name(name: string): JsonValue | undefined {
    const { named, bindings } = this.args;
    if (Object.hasOwn(named, name)) return named[name];
    return bindings !== undefined && Object.hasOwn(bindings, name) ? bindings[name] : undefined;
  }

  /** The value of a hole, undefined when it has none. */
  value(hole: Hole): JsonValue | undefined {
    const { reference } = hole;
    switch (reference.kind) {
      case 'position':
        return this.args.positional[reference.position - 1];
      case 'rest':
        return this.args.positional.length < reference.from
          ? undefined
          : this.args.positional.slice(reference.from - 1).join('|');
      case 'name':
        return this.name(reference.name);
      case 'previous':
        return follow(this.args.previous, reference.path);
      case 'all':
        return Object.fromEntries(this.unusedNamed());
    }
  }

  /** Tells whether a hole is a name that nothing has: it is then left as it stands. */
  isUnknown({ reference }: Hole): boolean {
    return reference.kind === 'name' && this.name(reference.name) === undefined;
  }

  /** The value of a hole as text: a string as it is, anything else as JSON; unknown name: as written; missing: empty. */
  text(hole: Hole): string {
    const value = this.value(hole);
    if (value === undefined) return hole.reference.kind === 'name' ? hole.source : '';
    return this.spend(typeof value === 'string' ? value : toJson(value, hole.source));
  }

  /** Like {@link text}, for places that are sent as UTF-8 octets: refuses a lone surrogate, which has no such form. */
  wellFormedText(hole: Hole): string {
    return requireWellFormed(this.text(hole), hole.source);
  }

  /** Counts `text` against the limit of the whole rendering, before it is escaped or joined. */
  spend(text: string): string {
    this.charsLeft -= text.length;
    if (this.charsLeft < 0) throw tooLarge();
    return text;
  }

  /** `$ARGS`: the named arguments that the row uses nowhere else, in their order. */
  unusedNamed(): ReadonlyArray<readonly [string, JsonValue]> {
    this.unused ??= listUnused(this.args, this.used);
    return this.unused;
  }
}

/** Refuses an output over the limit. */
export function requireSize(text: string): string {
  if (isLongerThan(text, RENDERED_BYTES_MAX)) throw tooLarge();
  return text;
}

/** The JSON text of a value (RFC 8259). @throws AppError `bad_template_value` when it is nested too deeply to write. */
export function toJson(value: JsonValue, source: string): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) throw badValue(source, 'is nested too deeply or too long to write as JSON', error);
    throw error;
  }
}

/** Refuses text that has no UTF-8 form. */
export function requireWellFormed(text: string, source: string): string {
  if (!text.isWellFormed()) throw badValue(source, 'holds half of a surrogate pair; send well-formed Unicode');
  return text;
}

/** The refusal of an argument that does not fit its place. Names the argument, never its value. */
export function badValue(source: string, problem: string, cause?: unknown): AppError {
  return new AppError('bad_template_value', `${source} ${problem}`, { cause, details: { argument: source } });
}

function tooLarge(): AppError {
  return new AppError(
    'payload_too_large',
    `the rendered template is over ${RENDERED_BYTES_MAX} bytes; send smaller arguments`,
  );
}

function follow(start: JsonValue | undefined, path: readonly PathStep[]): JsonValue | undefined {
  let value = start;
  for (const step of path) {
    if (typeof step === 'number') value = Array.isArray(value) ? (value as readonly JsonValue[])[step] : undefined;
    else value = isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}

function listUnused(args: Arguments, used: UsedArguments): ReadonlyArray<readonly [string, JsonValue]> {
  const names = new Set(used.names);
  const positions = new Set(used.positional);
  for (const [index, name] of (args.positionNames ?? []).entries()) {
    const position = index + 1;
    if (positions.has(position) || (used.rest !== null && position >= used.rest)) names.add(name);
  }
  return Object.entries(args.named).filter(([name, value]) => value !== undefined && !names.has(name));
}
