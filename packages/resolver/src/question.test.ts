import { describe, expect, it } from 'vitest';
import { CLAUSES_MAX, parseQuestion, TERMS_MAX } from './question.js';

const textsOf = (question: string) => parseQuestion(question).clauses.map(({ text }) => text);

describe('parseQuestion', () => {
  it('takes the terms of a question once each, without the noise of asking', () => {
    expect(parseQuestion('Please help me find the weather, the WEATHER in Oslo!').terms).toEqual([
      'find',
      'weather',
      'oslo',
    ]);
  });

  it('splits at sentences, commas and words that join two requests, and not inside numbers', () => {
    expect(textsOf('get the weather in Oslo and mail it to Ann. Then book room 4.5 for tomorrow')).toEqual([
      'get the weather in Oslo',
      'mail it to Ann',
      'book room 4.5 for tomorrow',
    ]);
  });

  it('does not split addresses', () => {
    expect(textsOf('fetch https://example.com/a?b=c!d and show the page title')).toEqual([
      'fetch https://example.com/a?b=c!d',
      'show the page title',
    ]);
  });

  it('joins a clause of one word with its smaller neighbour', () => {
    expect(textsOf('convert euros, dollars and send the amount to my bank')).toEqual([
      'convert euros, dollars',
      'send the amount to my bank',
    ]);
  });

  it('has six clauses at the most, and loses no term by it', () => {
    const words = Array.from(
      { length: 40 },
      (_, index) => `alpha${String.fromCharCode(97 + (index % 26))}${index}x beta${index}y`,
    );
    const { clauses, terms } = parseQuestion(words.join('. '));
    expect(clauses).toHaveLength(CLAUSES_MAX);
    expect(terms).toHaveLength(TERMS_MAX);
    expect(new Set(clauses.flatMap((clause) => clause.terms)).size).toBe(TERMS_MAX);
  });

  it('reads 2,000 characters', () => {
    expect(parseQuestion(`${'a '.repeat(999)}b zebra`).terms).toEqual(['b']);
  });
});
