import { newChance } from '../chance.js';
import { type Capability, toCapability } from './rows.js';
import { OPENINGS, pickByRank } from './vocabulary.js';

/** Share of the questions that ask for several capabilities at once. */
const SEVERAL_SHARE = 0.2;
const CLAUSES_MAX = 3;
const WORDS_MIN = 4;
const WORDS_MAX = 25;

const toShortText = ({ verb, object, system }: Capability): string => `${verb} ${object} in ${system}`;
const toLongText = ({ verb, object, system, qualifier, name }: Capability): string =>
  `${verb} the ${object} ${qualifier} that ${name} keeps in its ${system}`;

const cut = (text: string): string => text.split(' ').slice(0, WORDS_MAX).join(' ');

/**
 * Questions about the first `rows` rows: some short, some whole sentences, a fifth with several clauses; 4 to 25 words.
 * The same ones for a seed.
 */
export function makeQuestions(count: number, { rows, seed }: { rows: number; seed: number }): string[] {
  const chance = newChance(seed);
  const anyRow = () => toCapability(Math.floor(chance() * rows));
  const makeOne = (): string => {
    if (chance() < SEVERAL_SHARE) {
      const clauses = 2 + Math.floor(chance() * (CLAUSES_MAX - 1));
      return Array.from({ length: clauses }, () => toShortText(anyRow())).join(' and ');
    }
    if (chance() < 0.5) return toShortText(anyRow());
    return `${pickByRank(OPENINGS, chance())} ${toLongText(anyRow())}`;
  };
  return Array.from({ length: count }, makeOne).map(cut);
}

/** Words that a question has. */
export const QUESTION_WORDS = { min: WORDS_MIN, max: WORDS_MAX } as const;
