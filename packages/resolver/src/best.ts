/** Keeps the first few of any number of items, in order. */
export class Best<Item> {
  readonly items: Item[] = [];
  readonly #limit: number;
  readonly #compare: (a: Item, b: Item) => number;

  /** @param compare as `Array.sort` takes it: below zero when `a` comes first. */
  constructor(limit: number, compare: (a: Item, b: Item) => number) {
    this.#limit = limit;
    this.#compare = compare;
  }

  /** Tells whether an item would be among those kept. */
  wants(item: Item): boolean {
    const last = this.items.at(-1);
    if (this.items.length < this.#limit) return this.#limit > 0;
    return last !== undefined && this.#compare(item, last) < 0;
  }

  /** Adds an item; the one that is then too many falls out. */
  add(item: Item): void {
    if (!this.wants(item)) return;
    let at = this.items.length;
    while (at > 0 && this.#compare(item, this.items[at - 1] as Item) < 0) at -= 1;
    this.items.splice(at, 0, item);
    if (this.items.length > this.#limit) this.items.pop();
  }
}
