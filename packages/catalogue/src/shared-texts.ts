/** Longer texts are hardly ever equal. */
const LENGTH_MAX = 64;
/** Texts that are remembered; when they are as many, it begins anew. */
const SIZE_MAX = 1_024;

/**
 * Gives equal short texts as one. What is read of the database is a text of its own each time, also where all rows say
 * the same: for rows of half a kilobyte these copies took a twelfth of the memory.
 */
export class SharedTexts {
  readonly #texts = new Map<string, string>();

  /** @returns an equal text, the one that was given first where it is still remembered. */
  share<Text extends string | null>(text: Text): Text {
    if (text === null || text.length > LENGTH_MAX) return text;
    const known = this.#texts.get(text);
    if (known !== undefined) return known as Text;
    if (this.#texts.size >= SIZE_MAX) this.#texts.clear();
    this.#texts.set(text, text);
    return text;
  }
}
