/**
 * The items in another order for each round, so that what one leaves behind does not always fall on the same other.
 * @param round from 1.
 */
export const rotate = <T>(items: readonly T[], round: number): T[] =>
  items.map((_, index) => items[(index + round - 1) % items.length] as T);
