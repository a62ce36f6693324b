import { GrowingArray } from './growing-array.js';

/** Marks are whole numbers of 32 bits with a sign. */
const MARKS = 2 ** 32;
const MARK_MIN = -(2 ** 31);
const MARK_MAX = 2 ** 31 - 1;

/** A number of each document that follows from its key alone: by it some of many are chosen, whatever their order. */
export class Marks {
  readonly #marks = new GrowingArray(0);

  set(document: number, key: string): void {
    this.#marks.set(document, toMark(key));
  }

  /**
   * About as many of some documents as there is room for, if there are so many that may appear: those of the lowest marks.
   * @param room one at the least.
   */
  choose(documents: Int32Array, room: number, isAllowed: (document: number) => boolean): number[] {
    const chosen: number[] = [];
    let share = room / documents.length;
    for (let above = Number.NEGATIVE_INFINITY; chosen.length < room && above < MARK_MAX; share *= 4) {
      const upTo = Math.min(MARK_MAX, MARK_MIN + share * MARKS);
      for (const document of documents) {
        const mark = this.#marks.get(document);
        if (mark > above && mark <= upTo && isAllowed(document)) chosen.push(document);
      }
      above = upTo;
    }
    return chosen;
  }
}

/** FNV-1a of a key, 32 bits with a sign. */
function toMark(key: string): number {
  let mark = 0x811c9dc5;
  for (let index = 0; index < key.length; index += 1) mark = Math.imul(mark ^ key.charCodeAt(index), 0x01000193);
  return mark;
}
