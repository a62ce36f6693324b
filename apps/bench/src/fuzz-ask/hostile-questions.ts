import { makeQuestions } from '../ask/questions.js';
import { OBJECTS, VERBS } from '../ask/vocabulary.js';

const MEGABYTE = 1_000_000;
/** Of what is not made of repetitions: longer ones would measure how they are made. */
const LENGTH_MAX = 20_000;
const CLAUSES_MAX = 10_000;
const WORDS_MAX = 5_000;
const QUESTIONS = makeQuestions(500, { rows: 10_000, seed: 7 });

type Chance = () => number;

const below = (limit: number, chance: Chance): number => Math.floor(chance() * limit);
const pick = <T>(items: readonly T[], chance: Chance): T => items[below(items.length, chance)] as T;
/** Mostly short, at times as long as may be. */
const lengthBelow = (limit: number, chance: Chance): number => Math.floor(limit * chance() ** 6);

function repeat(make: () => string, count: number): string {
  let text = '';
  for (let index = 0; index < count; index += 1) text += make();
  return text;
}

/** Pieces on which patterns with nested repetition run away, and those that split identifiers. */
const BOMBS = [
  'a',
  'aA',
  'Aa',
  'a1',
  '1a',
  'A',
  'A_',
  '_',
  '-',
  ' ',
  '\t\n',
  '"',
  "'",
  '"\'',
  '`',
  '“”',
  '(',
  '[{',
  '\\',
  '$',
  '|',
  '. ',
  ', ',
  ' and ',
  ' then ',
  'and',
  'İ',
  'ß',
  'ﬃ',
  'e\u0301',
  '\u200d',
  '\u202e',
  '👨‍👩‍👧',
];
const ENDS = ['', '!', '"', '\0', 'b', '_Z', '\ud800'];

const QUOTES = ['"', "'", '`', '“', '”', '‘', '’', '«', '»', '「', '」', '\\"', '""'];
const CONJUNCTIONS = [' and ', ', ', ' then ', '; ', ' AND THEN ', '. ', ' & ', ' or ', ', and finally ', '\n'];

/** A character of any plane; lone surrogates too. */
const anyCharacter = (chance: Chance): string => String.fromCodePoint(below(0x110000, chance));
const anyUnit = (chance: Chance): string => String.fromCharCode(below(0x10000, chance));

/** What is asked, by kind. */
const KINDS: readonly ((chance: Chance) => string)[] = [
  (chance) => pick(QUESTIONS, chance),
  (chance) => `${pick(BOMBS, chance).repeat(lengthBelow(LENGTH_MAX, chance))}${pick(ENDS, chance)}`,
  (chance) => {
    const piece = chance() < 0.5 ? pick(BOMBS, chance) : `${pick(QUESTIONS, chance)} `;
    return piece.repeat(Math.ceil((chance() < 0.1 ? MEGABYTE : LENGTH_MAX) / piece.length)) + pick(ENDS, chance);
  },
  (chance) => repeat(() => anyCharacter(chance), lengthBelow(LENGTH_MAX, chance)),
  (chance) => repeat(() => anyUnit(chance), lengthBelow(LENGTH_MAX, chance)),
  (chance) => {
    const conjunction = pick(CONJUNCTIONS, chance);
    const clause = () => `${pick(VERBS, chance)} ${pick(OBJECTS, chance)}${conjunction}`;
    return repeat(clause, lengthBelow(CLAUSES_MAX, chance));
  },
  (chance) => repeat(() => `w${below(1e9, chance).toString(36)} `, lengthBelow(WORDS_MAX, chance)),
  (chance) => repeat(() => `${pick(QUOTES, chance)}${pick(OBJECTS, chance)} `, lengthBelow(WORDS_MAX, chance)),
  (chance) => repeat(() => String.fromCharCode(below(0xa0, chance)), lengthBelow(LENGTH_MAX, chance)),
  (chance) => repeat(() => `${pick(VERBS, chance)}_${pick(OBJECTS, chance)}_`.toUpperCase(), below(40, chance)),
  (chance) => repeat(() => `${pick([...VERBS, ...OBJECTS], chance)} `, lengthBelow(WORDS_MAX, chance)),
];

const PIECES_MAX = 4;

/** A question that somebody might ask in order to do harm, or by accident: one kind alone, or several in a row. */
export function makeHostileQuestion(chance: Chance): string {
  const pieces = chance() < 0.7 ? 1 : 1 + below(PIECES_MAX, chance);
  return repeat(() => pick(KINDS, chance)(chance), pieces);
}

/** The worst of each kind: as long, and of as many parts, as they are promised to be taken. */
export const WORST_QUESTIONS: readonly string[] = [
  ...BOMBS.map((piece) => `${piece.repeat(MEGABYTE / piece.length)}!`),
  ...CONJUNCTIONS.map((conjunction) => `send mail${conjunction}`.repeat(CLAUSES_MAX)),
  Array.from({ length: WORDS_MAX }, (_, index) => `word${index.toString(36)}`).join(' '),
  [...VERBS, ...OBJECTS].join(' ').repeat(100),
  '\ud800'.repeat(MEGABYTE),
  '\udbff\udfff'.repeat(MEGABYTE / 2),
  '"'.repeat(MEGABYTE),
  `"${'("'.repeat(MEGABYTE / 4)}`,
  '\0'.repeat(MEGABYTE),
  '',
];
