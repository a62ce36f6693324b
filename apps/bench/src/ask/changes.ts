import type { Door } from '../door.js';
import { makeAskRow } from './rows.js';

const ROWS_PER_TURN = 4;

/**
 * Changes beside the questions, by their number: rows are replaced whole (PUT), in columns (PATCH), added (POST) and,
 * later, removed again. They change what is searched.
 */
export class Changes {
  readonly #door: Door;
  readonly #rows: number;

  /** @param rows that there are: those added come after them. */
  constructor(door: Door, rows: number) {
    this.#door = door;
    this.#rows = rows;
  }

  /** Makes one change. */
  make(turn: number): Promise<unknown> {
    const index = (turn * 7_919) % this.#rows;
    const round = Math.floor(turn / ROWS_PER_TURN);
    switch (turn % ROWS_PER_TURN) {
      case 0:
        return this.#addAndRemove(this.#rows + round);
      case 1:
        return this.#door.change(makeAskRow(index).key, { content: makeAskRow(index, turn).content });
      default:
        return this.#door.replace(makeAskRow(index, turn));
    }
  }

  /** Adds a row; every second of them goes again, so that there are changes of every kind. */
  async #addAndRemove(index: number): Promise<void> {
    const row = makeAskRow(index);
    await this.#door.create(row);
    if (index % 2 === 0) await this.#door.remove(row.key);
  }
}
