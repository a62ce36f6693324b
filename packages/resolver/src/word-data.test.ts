import { describe, expect, it } from 'vitest';
import { englishWords } from './english.js';
import { toTerm } from './normalise.js';
import { BYTES, SCALES, TERMS } from './word-data.js';
import { toUnit } from './word-vectors.js';

const DIMENSIONS = 100;
const LENGTH_MAX = 3_000_000;

const terms = TERMS.split(' ');
const bytes = new Int8Array(Buffer.from(BYTES, 'base64'));
const scales = Buffer.from(SCALES, 'base64');
const scaleOf = (row: number): number => scales.readFloatLE(row * Float32Array.BYTES_PER_ELEMENT);

function vectorOf(word: string): Float32Array {
  const sum = new Float32Array(DIMENSIONS);
  expect({ word, known: englishWords().addTo(sum, toTerm(word) ?? '', 1) }).toEqual({ word, known: true });
  return toUnit(sum) ?? sum;
}

function cosine(a: string, b: string): number {
  const other = vectorOf(b);
  return vectorOf(a).reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
}

describe('the vectors of words', () => {
  it('are one of 100 bytes with one scale for each of 20,000 distinct terms', () => {
    expect(terms).toHaveLength(20_000);
    expect(new Set(terms).size).toBe(terms.length);
    expect(bytes).toHaveLength(terms.length * DIMENSIONS);
    expect(scales).toHaveLength(terms.length * Float32Array.BYTES_PER_ELEMENT);
  });

  it('are of terms in lower-case letters', () => {
    expect(terms.filter((term) => !/^[a-z]+$/.test(term))).toEqual([]);
  });

  it('use the whole range of a byte, with scales that are finite and above zero', () => {
    const wrong = terms.filter((_, row) => {
      const largest = bytes
        .subarray(row * DIMENSIONS, (row + 1) * DIMENSIONS)
        .reduce((a, b) => Math.max(a, Math.abs(b)), 0);
      return largest !== 127 || !Number.isFinite(scaleOf(row)) || scaleOf(row) <= 0;
    });
    expect(wrong).toEqual([]);
  });

  it.each([
    ['invoice', 'bill', 'weather'],
    ['repository', 'git', 'recipe'],
    ['translate', 'language', 'invoice'],
    ['forecast', 'weather', 'password'],
    ['delete', 'remove', 'create'],
    ['email', 'mail', 'price'],
    ['flight', 'airport', 'database'],
    ['stock', 'market', 'image'],
  ])('have %s nearer to %s than to %s', (word, near, far) => {
    expect(cosine(word, near)).toBeGreaterThan(cosine(word, far));
  });

  it('stay under 3 MB', () => {
    expect(TERMS.length + SCALES.length + BYTES.length).toBeLessThan(LENGTH_MAX);
  });
});
