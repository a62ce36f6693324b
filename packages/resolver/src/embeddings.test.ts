import { describe, expect, it } from 'vitest';
import { Embeddings } from './embeddings.js';

const toUnit = (numbers: readonly number[]): Float32Array => {
  const length = Math.hypot(...numbers);
  return Float32Array.from(numbers, (number) => number / length);
};
const toBytes = (seed: number, dimensions: number): Int8Array =>
  Int8Array.from({ length: dimensions }, (_, at) => Math.round(Math.sin(seed + at * at) * 127));
const angle = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, number, at) => sum + number * (b[at] ?? 0), 0) / (Math.hypot(...a) * Math.hypot(...b));

describe('Embeddings', () => {
  it.each([1, 3, 4, 7, 1_024])('finds the angle between a question and a document of %i dimensions', (dimensions) => {
    const embeddings = new Embeddings();
    const question = Array.from({ length: dimensions }, (_, at) => Math.cos(at) + 0.1);
    for (let document = 0; document < 20; document += 1) embeddings.set(document, toBytes(document + 1, dimensions));
    for (let document = 0; document < 20; document += 1) {
      const expected = angle([...toBytes(document + 1, dimensions)], question);
      expect(embeddings.cosine(document, toUnit(question))).toBeCloseTo(expected, 5);
    }
  });

  it('keeps each document’s own vector while others come, change and go, over more than one block', () => {
    const embeddings = new Embeddings();
    const seeds = new Map<number, number>();
    const set = (document: number, seed: number) => {
      embeddings.set(document, toBytes(seed, 5));
      seeds.set(document, seed);
    };
    for (let document = 0; document < 2_500; document += 1) set(document, document);
    for (let document = 0; document < 2_500; document += 3) {
      embeddings.delete(document);
      embeddings.delete(document);
      seeds.delete(document);
    }
    for (let document = 1; document < 4_000; document += 2) set(document, document + 9_000);
    expect(embeddings.size).toBe(seeds.size);
    const question = toUnit([1, 2, 3, 4, 5]);
    for (const [document, seed] of seeds) {
      expect(embeddings.cosine(document, question)).toBeCloseTo(angle([...toBytes(seed, 5)], [1, 2, 3, 4, 5]), 5);
    }
  });

  it('is 0 for a document without a vector, and for a question of other dimensions', () => {
    const embeddings = new Embeddings();
    embeddings.set(3, Int8Array.of(1, 0));
    expect(embeddings.cosine(2, Float32Array.of(1, 0))).toBe(0);
    expect(embeddings.cosine(3, Float32Array.of(1))).toBe(0);
    embeddings.delete(3);
    expect(embeddings.cosine(3, Float32Array.of(1, 0))).toBe(0);
  });

  it('takes no vector of other dimensions, or without a direction, and has none then', () => {
    const embeddings = new Embeddings();
    expect(embeddings.set(0, Int8Array.of(0, 0))).toBe(false);
    embeddings.set(0, Int8Array.of(1, 1));
    embeddings.set(1, Int8Array.of(1, 1));
    expect(embeddings.set(1, Int8Array.of(1, 1, 1))).toBe(false);
    expect(embeddings.set(2, Int8Array.of(0, 0))).toBe(false);
    expect(embeddings.size).toBe(1);
    expect(embeddings.cosine(1, toUnit([1, 1]))).toBe(0);
  });

  it('may begin anew with other dimensions when no vector is left', () => {
    const embeddings = new Embeddings();
    embeddings.set(0, Int8Array.of(1, 1));
    expect(embeddings.set(0, Int8Array.of(1, 0, 0))).toBe(true);
    expect(embeddings.cosine(0, Float32Array.of(1, 0, 0))).toBe(1);
  });
});
