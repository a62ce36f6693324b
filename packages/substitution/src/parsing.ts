import { type Diagnostic, type ParseResult, toDiagnostic } from './diagnostic.js';
import {
  DIAGNOSTICS_MAX,
  HOLES_MAX,
  isLongerThan,
  PATH_STEPS_MAX,
  POSITION_MAX,
  TEMPLATE_BYTES_MAX,
} from './limits.js';
import type { Hole, Reference } from './reference.js';

/** Which arguments a template reads. */
export interface UsedArguments {
  /** Numbers written as `$N`, ascending. */
  readonly positional: readonly number[];
  /** The lowest N of all `$N+`, or null when the template has none. */
  readonly rest: number | null;
  /** Names written as `$name` or in an RFC 6570 expression, sorted. */
  readonly names: readonly string[];
  /** Whether the template reads `$PREV`. */
  readonly previous: boolean;
  /** Whether the template holds `$ARGS`. */
  readonly all: boolean;
}

/** What is found while the places of one row are read: faults, and which arguments are used. */
export class Parsing {
  private readonly diagnostics: Diagnostic[] = [];
  private readonly positions = new Set<number>();
  private readonly names = new Set<string>();
  private rest: number | null = null;
  private previous = false;
  private all = false;
  private holes = 0;

  /** Opens one place of the row. A text over the limit is reported here, and must not be read further. */
  open(name: string, text: string): Place {
    const place = new Place(this, name, text);
    if (place.tooLong) place.report(0, `is over ${TEMPLATE_BYTES_MAX} bytes; shorten it`);
    return place;
  }

  add(diagnostic: () => Diagnostic): void {
    if (this.diagnostics.length < DIAGNOSTICS_MAX) this.diagnostics.push(diagnostic());
  }

  /** Counts one hole. @returns true when it is the first one over the limit. */
  countHole(): boolean {
    this.holes += 1;
    return this.holes === HOLES_MAX + 1;
  }

  useName(name: string): void {
    this.names.add(name);
  }

  use(reference: Reference): void {
    if (reference.kind === 'position') this.positions.add(reference.position);
    else if (reference.kind === 'rest') this.rest = Math.min(this.rest ?? reference.from, reference.from);
    else if (reference.kind === 'name') this.names.add(reference.name);
    else if (reference.kind === 'previous') this.previous = true;
    else this.all = true;
  }

  get failed(): boolean {
    return this.diagnostics.length > 0;
  }

  /** Ends the reading: what `build` makes of the uses, or the diagnostics. `build` runs only when there are none. */
  finish<T>(build: (used: UsedArguments) => T): ParseResult<T> {
    if (this.failed) return { ok: false, diagnostics: this.diagnostics };
    return {
      ok: true,
      value: build({
        positional: [...this.positions].sort((a, b) => a - b),
        rest: this.rest,
        names: [...this.names].sort(),
        previous: this.previous,
        all: this.all,
      }),
    };
  }
}

/** One text of a row that is read as a template. */
export class Place {
  readonly name: string;
  readonly text: string;
  readonly tooLong: boolean;
  private readonly parsing: Parsing;

  constructor(parsing: Parsing, name: string, text: string) {
    this.parsing = parsing;
    this.name = name;
    this.text = text;
    this.tooLong = isLongerThan(text, TEMPLATE_BYTES_MAX);
  }

  report(offset: number, message: string): void {
    this.parsing.add(() => toDiagnostic(this.name, this.text, offset, message));
  }

  /** Records a hole; `offset` is where it stands in the text of the place. */
  use(hole: Hole, offset: number): void {
    const { reference } = hole;
    this.countHole(offset);
    this.parsing.use(reference);
    const number = reference.kind === 'position' ? reference.position : reference.kind === 'rest' ? reference.from : 0;
    if (number > POSITION_MAX) {
      this.report(offset, `an argument number is at most ${POSITION_MAX}; write \\$ for a literal dollar`);
    }
    if (reference.kind === 'previous' && reference.path.length > PATH_STEPS_MAX) {
      this.report(offset, `the path of $PREV has more than ${PATH_STEPS_MAX} steps; shorten it`);
    }
  }

  /** Records a variable of an RFC 6570 expression. */
  useName(name: string, offset: number): void {
    this.countHole(offset);
    this.parsing.useName(name);
  }

  private countHole(offset: number): void {
    if (this.parsing.countHole()) this.report(offset, `a template has at most ${HOLES_MAX} holes; split the row`);
  }
}
