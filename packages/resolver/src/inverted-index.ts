import { GrowingArray } from './growing-array.js';
import { type MatchTable, PARTS_MAX } from './match-table.js';
import { NONE, Postings } from './postings.js';
import { Spelling } from './spelling.js';

/** How a field counts (BM25F): its weight, and how far its length is held against it, 0 to 1. */
export interface FieldWeight {
  readonly weight: number;
  readonly b: number;
}

/** A term of a question. */
export interface QueryTerm {
  readonly term: string;
  /** The parts of the question that it stands in, a bit for each. */
  readonly parts: number;
  /** Terms that count so much of it where it does not stand itself, 0 to 1. */
  readonly others: readonly { readonly term: string; readonly share: number }[];
}

/** One list of postings that a question looks at. */
interface Lookup {
  readonly id: number;
  readonly frequency: number;
  /** Which of the question's terms it counts for, from 1. */
  readonly place: number;
  readonly parts: number;
  /** What one that holds it fully gains. */
  readonly worth: number;
  /** Whether it is the term itself. */
  readonly exact: boolean;
}

/** A term in more documents than that, and in such a share of all, is common. */
const COMMON_MIN = 500;
const COMMON_SHARE = 0.02;
/** Postings that one question looks at: terms of nearly every document of a great catalogue tell nothing, and take long. */
export const POSTINGS_MAX = 60_000;
/** Saturation of repeated terms. */
const K1 = 1.2;
/** A field's count of a term is packed into so many bits: more repetitions than that add nothing. */
const COUNT_BITS = 4;
const COUNT_MAX = 2 ** COUNT_BITS - 1;
/** Fields that fit into one number. */
export const FIELDS_MAX = 8;
const LENGTH_MAX = 65_535;

/** Terms of removed documents that may stay in the lists, as a share of all, and at the least. */
const DEAD_SHARE_MAX = 0.1;
const DEAD_MIN = 20;
/** Postings that one change looks at, at the least, to clear dead ones away: the work is done in bites, a list never split. */
const SWEEP_POSTINGS = 2_000;
/** Lists that one change looks at, at the least, however short they are. */
const SWEEP_LISTS = 200;
/** And so many times the terms of the changed document, or great documents would leave more behind than is cleared away. */
const SWEEP_FACTOR = 8;

/**
 * An inverted index of documents with several fields, ranked by BM25F. Documents are added and removed one by one; what
 * removed ones leave in the lists is passed over, and cleared away a bite at a time, so how rare a term is may lag by a
 * tenth. Memory: 12 bytes for each distinct term of a document.
 */
export class InvertedIndex {
  readonly #fields: readonly FieldWeight[];
  readonly #termIds = new Map<string, number>();
  readonly #terms: (string | undefined)[] = [];
  readonly #freeTerms: number[] = [];
  readonly #spelling = new Spelling();
  readonly #heads = new GrowingArray(NONE);
  /** Postings of each term, dead ones included. */
  readonly #frequencies = new GrowingArray(0);
  readonly #postings = new Postings();
  readonly #lengths: readonly GrowingArray[];
  readonly #lengthSums: number[];
  /** 1 for a document that is there. */
  readonly #live = new GrowingArray(0);
  /** Postings that still name the document; its number is used again when there are none. */
  readonly #named = new GrowingArray(0);
  readonly #freeDocuments: number[] = [];
  #documents = 0;
  #liveDocuments = 0;
  #livePostings = 0;
  #deadPostings = 0;
  #sweepAt = 0;

  /** @throws RangeError for more than eight fields. */
  constructor(fields: readonly FieldWeight[]) {
    if (fields.length > FIELDS_MAX) throw new RangeError(`an index has at most ${FIELDS_MAX} fields`);
    this.#fields = fields;
    this.#lengths = fields.map(() => new GrowingArray(0));
    this.#lengthSums = fields.map(() => 0);
  }

  /** Documents that are there. */
  get size(): number {
    return this.#liveDocuments;
  }

  /**
   * Adds a document.
   * @param fields the terms of each field, in the order of the weights.
   * @returns its number, which stays until it is removed.
   */
  add(fields: readonly (readonly string[])[]): number {
    const document = this.#freeDocuments.pop() ?? this.#documents++;
    const counts = countTerms(fields);
    for (const [term, packed] of counts) {
      const id = this.#toTermId(term);
      this.#heads.set(id, this.#postings.add(document, packed, this.#heads.get(id)));
      this.#frequencies.set(id, this.#frequencies.get(id) + 1);
    }
    for (const [field, terms] of fields.entries()) this.#setLength(document, field, Math.min(terms.length, LENGTH_MAX));
    this.#live.set(document, 1);
    this.#named.set(document, counts.size);
    this.#liveDocuments += 1;
    this.#livePostings += counts.size;
    this.#sweep(counts.size);
    return document;
  }

  /** Removes a document; one that is not there is fine. */
  remove(document: number): void {
    if (this.#live.get(document) === 0) return;
    this.#live.set(document, 0);
    this.#liveDocuments -= 1;
    for (const field of this.#fields.keys()) this.#setLength(document, field, 0);
    const named = this.#named.get(document);
    this.#livePostings -= named;
    this.#deadPostings += named;
    if (named === 0) this.#freeDocuments.push(document);
    this.#sweep(named);
  }

  /** Terms of documents that a word may have been meant for; none for a word that stands in a document itself. */
  findMeant(word: string): string[] {
    return this.#termIds.has(word) ? [] : this.#spelling.find(word);
  }

  /**
   * Finds every document that holds one of the terms. The rarest terms come first; of those that are in very many
   * documents, and tell little, some may be left out: a question looks at {@link POSTINGS_MAX} postings at the most,
   * and at those of one term.
   */
  match(terms: readonly QueryTerm[], table: MatchTable): void {
    table.clear(this.#documents);
    table.unknownWeight = this.#toRarity(0);
    const groups = terms.map((term, index) => this.#toLookups(term, index + 1, table));
    // Rare terms first; those that stand for a term right after it.
    groups.sort(([a], [b]) => (b?.worth ?? 0) - (a?.worth ?? 0));
    let looked = 0;
    for (const lookup of groups.flat()) {
      if (looked > 0 && looked + lookup.frequency > POSTINGS_MAX) continue;
      looked += lookup.frequency;
      this.#addScores(lookup, table);
    }
  }

  /** The lists of a term and of those that may stand for it. Its weight goes to the table. */
  #toLookups({ term, parts, others }: QueryTerm, place: number, table: MatchTable): Lookup[] {
    const exact = this.#frequencyOf(term);
    const rarity = this.#toRarity(exact.frequency);
    table.weight += rarity;
    for (let part = 0; part < PARTS_MAX; part += 1) {
      if (((parts >>> part) & 1) === 1) table.partWeights[part] = (table.partWeights[part] as number) + rarity;
    }
    const lookups: Lookup[] = [{ ...exact, place, parts, worth: rarity, exact: true }];
    // What nearly every document holds tells little, and what stands for it less.
    const isCommon = exact.frequency > Math.max(COMMON_MIN, this.#liveDocuments * COMMON_SHARE);
    for (const { term: other, share } of isCommon ? [] : others) {
      const found = this.#frequencyOf(other);
      const worth = share * Math.min(rarity, this.#toRarity(found.frequency));
      lookups.push({ ...found, place, parts, worth, exact: false });
    }
    return lookups.filter(({ id }) => id !== NONE);
  }

  #frequencyOf(term: string): { id: number; frequency: number } {
    const id = this.#termIds.get(term) ?? NONE;
    return { id, frequency: id === NONE ? 0 : this.#frequencies.get(id) };
  }

  #addScores({ id, worth, place, parts, exact }: Lookup, table: MatchTable): void {
    const toStrength = this.#buildStrength();
    const live = this.#live;
    this.#postings.forEach(this.#heads.get(id), (document, counts) => {
      if (live.get(document) === 0) return;
      const strength = toStrength(document, counts);
      table.addScore(document, place, parts, (worth * strength) / (K1 + strength));
      if (!exact) return;
      table.covered[document] = (table.covered[document] as number) + worth;
      if (table.rarest[document] === 0) table.rarest[document] = worth;
      if ((counts & COUNT_MAX) !== 0) table.firstFieldHits[document] = (table.firstFieldHits[document] as number) + 1;
    });
  }

  /** Tells how much a document is about a term: its counts, each by its field's weight and length. */
  #buildStrength(): (document: number, counts: number) => number {
    const live = this.#liveDocuments;
    const weights = Float64Array.from(this.#fields, ({ weight }) => weight);
    const fixed = Float64Array.from(this.#fields, ({ b }) => 1 - b);
    const perTerm = Float64Array.from(this.#fields, ({ b }, field) => {
      const sum = this.#lengthSums[field] ?? 0;
      return sum === 0 ? 0 : (b * live) / sum;
    });
    const lengths = this.#lengths;
    return (document, counts) => {
      let strength = 0;
      for (let field = 0, rest = counts; rest !== 0; field += 1, rest >>>= COUNT_BITS) {
        const count = rest & COUNT_MAX;
        if (count === 0) continue;
        const length = (lengths[field] as GrowingArray).get(document);
        strength +=
          ((weights[field] as number) * count) / ((fixed[field] as number) + (perTerm[field] as number) * length);
      }
      return strength;
    };
  }

  /** Inverse document frequency, as Lucene has it: never negative. */
  #toRarity(frequency: number): number {
    const documents = Math.max(this.#liveDocuments, frequency);
    return Math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5));
  }

  #setLength(document: number, field: number, length: number): void {
    const lengths = this.#lengths[field] as GrowingArray;
    this.#lengthSums[field] = (this.#lengthSums[field] ?? 0) + length - lengths.get(document);
    lengths.set(document, length);
  }

  #toTermId(term: string): number {
    const known = this.#termIds.get(term);
    if (known !== undefined) return known;
    const id = this.#freeTerms.pop() ?? this.#terms.length;
    this.#terms[id] = term;
    this.#termIds.set(term, id);
    this.#spelling.add(term);
    return id;
  }

  /** @param changed terms of the document that was added or removed. */
  #sweep(changed: number): void {
    if (this.#deadPostings < Math.max(DEAD_MIN, this.#livePostings * DEAD_SHARE_MAX)) return;
    const listsMax = Math.max(SWEEP_LISTS, changed * SWEEP_FACTOR);
    const postingsMax = Math.max(SWEEP_POSTINGS, changed * SWEEP_FACTOR);
    for (let lists = 0, seen = 0; lists < listsMax && seen < postingsMax; lists += 1) {
      if (this.#sweepAt >= this.#terms.length) this.#sweepAt = 0;
      seen += this.#sweepList(this.#sweepAt);
      this.#sweepAt += 1;
    }
  }

  /** Takes dead postings out of a term's list. @returns how long it was. */
  #sweepList(term: number): number {
    const name = this.#terms[term];
    if (name === undefined) return 0;
    let seen = 0;
    let kept = NONE;
    for (let at = this.#heads.get(term), next: number; at !== NONE; at = next) {
      next = this.#postings.next(at);
      seen += 1;
      const document = this.#postings.document(at);
      if (this.#live.get(document) === 1) {
        kept = at;
        continue;
      }
      if (kept === NONE) this.#heads.set(term, next);
      else this.#postings.setNext(kept, next);
      this.#postings.release(at);
      this.#frequencies.set(term, this.#frequencies.get(term) - 1);
      this.#forget(document);
    }
    if (this.#heads.get(term) === NONE) {
      this.#terms[term] = undefined;
      this.#termIds.delete(name);
      this.#spelling.delete(name);
      this.#freeTerms.push(term);
    }
    return seen;
  }

  #forget(document: number): void {
    this.#deadPostings -= 1;
    const named = this.#named.get(document) - 1;
    this.#named.set(document, named);
    if (named === 0) this.#freeDocuments.push(document);
  }
}

/** How often each term stands in each field, packed into one number. */
function countTerms(fields: readonly (readonly string[])[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [field, terms] of fields.entries()) {
    const shift = field * COUNT_BITS;
    for (const term of terms) {
      const packed = counts.get(term) ?? 0;
      if (((packed >>> shift) & COUNT_MAX) < COUNT_MAX) counts.set(term, packed + (1 << shift));
    }
  }
  return counts;
}
