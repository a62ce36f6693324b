/** No posting: the end of a list. */
export const NONE = -1;

const BLOCK_BITS = 15;
const BLOCK_POSTINGS = 2 ** BLOCK_BITS;
const BLOCK_MASK = BLOCK_POSTINGS - 1;
/** Numbers of one posting: its document, its packed counts, the next posting of the term. */
const POSTING_WIDTH = 3;

/** Postings as linked lists in blocks of plain numbers: 12 bytes each, and no object for any of them. */
export class Postings {
  readonly #blocks: Int32Array[] = [];
  #length = 0;
  #free = NONE;

  add(document: number, counts: number, next: number): number {
    const posting = this.#free === NONE ? this.#length++ : this.#free;
    if (posting === this.#free) this.#free = this.next(posting);
    if (posting >>> BLOCK_BITS === this.#blocks.length) {
      this.#blocks.push(new Int32Array(BLOCK_POSTINGS * POSTING_WIDTH));
    }
    const block = this.#block(posting);
    const at = (posting & BLOCK_MASK) * POSTING_WIDTH;
    block[at] = document;
    block[at + 1] = counts;
    block[at + 2] = next;
    return posting;
  }

  /** Calls `visit` with the document and the packed counts of each posting of a list. */
  forEach(head: number, visit: (document: number, counts: number) => void): void {
    for (let posting = head; posting !== NONE; ) {
      const block = this.#block(posting);
      const at = (posting & BLOCK_MASK) * POSTING_WIDTH;
      visit(block[at] as number, block[at + 1] as number);
      posting = block[at + 2] as number;
    }
  }

  document(posting: number): number {
    return this.#block(posting)[(posting & BLOCK_MASK) * POSTING_WIDTH] as number;
  }

  next(posting: number): number {
    return this.#block(posting)[(posting & BLOCK_MASK) * POSTING_WIDTH + 2] as number;
  }

  setNext(posting: number, next: number): void {
    this.#block(posting)[(posting & BLOCK_MASK) * POSTING_WIDTH + 2] = next;
  }

  release(posting: number): void {
    this.setNext(posting, this.#free);
    this.#free = posting;
  }

  #block(posting: number): Int32Array {
    return this.#blocks[posting >>> BLOCK_BITS] as Int32Array;
  }
}
