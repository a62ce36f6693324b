import { type Docstring, deriveEffect, deriveRisk, fingerprint, parseDocstring } from '@rowcall/contract';
import type { Effect, JsonObject, Risk, Row } from '@rowcall/protocol';
import type { SharedTexts } from './shared-texts.js';

/** What an entry asks of the process it lives in. */
export interface EntryContext {
  /** Effect that a function declares; undefined for one this process does not have. */
  readonly functionEffect: (name: string) => Effect | undefined;
  /** SHA-256 of a text, lower-case hex. */
  readonly sha256: (text: string) => string;
  /** The entry of another key, as the catalogue holds it now. */
  readonly find: (key: string) => Entry | undefined;
  /** What rows have in common is held once. */
  readonly texts: SharedTexts;
}

/** Rows that include rows that include … are followed this deep. */
const INCLUDE_DEPTH_MAX = 8;

/** A row as an entry holds it. */
export type HeldRow = Omit<Row, 'input_schema'>;

const NOTHING = Object.freeze([]) as unknown as string[];

const shareEmpty = (values: string[]): string[] => (values.length === 0 ? NOTHING : values);

/** Most rows have most lists empty, and a few texts between them: parts that are equal are held once. */
function shareEqualParts(row: HeldRow, texts: SharedTexts): HeldRow {
  return {
    ...row,
    type: texts.share(row.type),
    auth: texts.share(row.auth),
    category: texts.share(row.category),
    runner: texts.share(row.runner),
    effect: texts.share(row.effect),
    source: texts.share(row.source),
    allowed_categories: shareEmpty(row.allowed_categories),
    includes: shareEmpty(row.includes),
    pinned_for: shareEmpty(row.pinned_for),
    examples: shareEmpty(row.examples),
    created_at: texts.share(row.created_at),
    updated_at: texts.share(row.updated_at),
  };
}

/** JSON in one piece: V8 leaves what it writes as a tree of small texts, which take half as much again. */
const toCompactJson = (value: JsonObject): string => Buffer.from(JSON.stringify(value)).toString();

/** One row in memory, with what is derived from it once. Immutable: a change of the row makes a new entry. */
export class Entry {
  readonly row: HeldRow;
  readonly effect: Effect;
  readonly risk: Risk;
  readonly #context: EntryContext;
  /** What the row's function declared when the entry was made, as in {@link Entry.effect}: both tell of the same function. */
  readonly #declaredEffect: Effect | undefined;
  #fingerprint: string | undefined;
  #content: { readonly doc: Docstring; readonly payload: string } | undefined;

  /** As text: the objects of a schema take ten times the memory, and most are never looked at. */
  readonly #inputSchema: string | null;

  constructor({ input_schema: schema, ...row }: Row, context: EntryContext) {
    this.row = shareEqualParts(row, context.texts);
    this.#inputSchema = schema === null ? null : toCompactJson(schema);
    this.#declaredEffect = row.type === 'fn' ? context.functionEffect(row.target) : undefined;
    this.effect = deriveEffect(row, this.#declaredEffect);
    this.risk = deriveRisk(row);
    this.#context = context;
  }

  get key(): string {
    return this.row.key;
  }

  get category(): string {
    return this.row.category;
  }

  get enabled(): boolean {
    return this.row.enabled;
  }

  /** US dollars that a call costs, as the row declares it. */
  get price(): number {
    return this.row.limits?.cost_usd ?? 0;
  }

  get hasInputSchema(): boolean {
    return this.#inputSchema !== null;
  }

  /** The row's `input_schema`, read anew each time. */
  get inputSchema(): JsonObject | null {
    return this.#inputSchema === null ? null : (JSON.parse(this.#inputSchema) as JsonObject);
  }

  /** The row as it is stored. */
  toRow(): Row {
    return { ...this.row, input_schema: this.inputSchema };
  }

  get doc(): Docstring {
    return this.#parsed.doc;
  }

  /** Content below the docstring. */
  get payload(): string {
    return this.#parsed.payload;
  }

  /** Kept from its first use on: of a great catalogue, most rows are never read or called. */
  get #parsed() {
    this.#content ??= parseDocstring(this.row.content, this.row.type);
    return this.#content;
  }

  /** What defines the call, as SHA-256. A row that includes others changes with them, so it is never remembered. */
  get fingerprint(): string {
    return this.#fingerprintAt(0, new Map());
  }

  /** @param seen what this computation has found so far: rows that include each other would multiply without it. */
  #fingerprintAt(depth: number, seen: Map<string, string>): string {
    if (this.row.includes.length === 0 || depth >= INCLUDE_DEPTH_MAX) {
      this.#fingerprint ??= this.#compute(INCLUDE_DEPTH_MAX, seen);
      return this.#fingerprint;
    }
    const place = `${this.row.key} ${depth}`;
    const found = seen.get(place) ?? this.#compute(depth, seen);
    seen.set(place, found);
    return found;
  }

  #compute(depth: number, seen: Map<string, string>): string {
    const includes: Record<string, string> = {};
    for (const key of this.row.includes) {
      const included = depth < INCLUDE_DEPTH_MAX ? this.#context.find(key) : undefined;
      includes[key] = included === undefined ? '' : included.#fingerprintAt(depth + 1, seen);
    }
    const declared = this.#declaredEffect === undefined ? {} : { functionEffect: this.#declaredEffect };
    return fingerprint(this.toRow(), { includes, ...declared }, this.#context.sha256);
  }
}
