/**
 * Reads the number of an option.
 * @throws Error that names the option and the numbers it takes.
 */
export function toWholeNumber(name: string, text: string, { min, max }: { min: number; max: number }): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new Error(`--${name} ${text}: give whole numbers from ${min} to ${max}`);
}
