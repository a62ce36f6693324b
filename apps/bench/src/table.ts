import type { Spread } from './statistics.js';

/** Writes rows as a table of aligned columns; the first column is set left, the others right. */
export function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const toLine = (cells: readonly string[]) =>
    widths
      .map((width, column) => {
        const cell = cells[column] ?? '';
        return column === 0 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [toLine(head), rule, ...rows.map(toLine)].join('\n');
}

/** Writes a number with so many digits that it can be read and compared; a dash for what was not measured. */
export function toNumber(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return '-';
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  return size >= 10 ? value.toFixed(1) : value.toFixed(size >= 1 ? 2 : 3);
}

/** A spread as text: the middle, and in brackets the ends where they differ. */
export function spreadToText({ min, median, max }: Spread): string {
  if (Number.isNaN(median)) return '-';
  return min === max ? toNumber(median) : `${toNumber(median)} (${toNumber(min)}–${toNumber(max)})`;
}
