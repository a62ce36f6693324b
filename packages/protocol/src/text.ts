import { z } from 'zod';

// Postgres text cannot hold U+0000, and a lone surrogate is not UTF-8.
const wellFormed = (value: string): boolean => !value.includes('\0') && value.isWellFormed();

/** A text that a column can hold. */
export const textSchema = (lengthMax: number) =>
  z.string().max(lengthMax).refine(wellFormed, 'must be well-formed Unicode without U+0000');

/** The same, not empty: what a caller says beside the input. */
export const noteSchema = (lengthMax: number) => textSchema(lengthMax).min(1);

/** SHA-256 (FIPS 180-4) in lower-case hex. */
export const hashSchema = z.string().regex(/^[0-9a-f]{64}$/);
