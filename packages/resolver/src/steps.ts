import { Best } from './best.js';
import type { Question } from './question.js';
import type { Scorer } from './scorer.js';

/** One of several things that a question asks for. */
export interface Step {
  /** The part of the question, as it stands there. */
  readonly clause: string;
  /** Keys of the rows that fit it, best first. */
  readonly keys: readonly string[];
}

/** A clause of a question with the rows that fit it best. */
export interface RankedClause {
  readonly clause: string;
  /** Weight of its terms, in terms that no row holds. */
  readonly terms: number;
  /** Best first. */
  readonly rows: readonly ClauseRow[];
}

/** A row by its number, and how well it fits a clause: 0 to 1.5. */
interface ClauseRow {
  readonly document: number;
  readonly score: number;
}

/** Rows of a clause that are looked at, and those of them that a step answers. */
const CLAUSE_ROWS = 8;
const STEP_ROWS = 3;
/** A clause that no row fits better asks for nothing that is here: greetings, reasons, circumstances. */
const CLAUSE_SCORE_MIN = 0.45;
/** And one that is told as a step must fit better still. */
const STEP_SCORE_MIN = 0.6;
/** What nearness in meaning counts beside words that are the same. */
const MEANING = 0.5;

/** Ranks rows for each clause of a question, one row after the other. */
export class ClauseRanking {
  readonly #question: Question;
  readonly #scorer: Scorer;
  readonly #best: readonly Best<ClauseRow>[];

  /** @param isBefore which of two rows that fit alike comes first. */
  constructor(question: Question, scorer: Scorer, isBefore: (a: number, b: number) => boolean) {
    this.#question = question;
    this.#scorer = scorer;
    const compare = (a: ClauseRow, b: ClauseRow) => b.score - a.score || (isBefore(a.document, b.document) ? -1 : 1);
    this.#best = question.clauses.map(() => new Best<ClauseRow>(CLAUSE_ROWS, compare));
  }

  add(document: number): void {
    for (let part = 0; part < this.#best.length; part += 1) {
      const score = this.#scorer.clauseWords(document, part) + MEANING * this.#scorer.clauseMeaning(document, part);
      this.#best[part]?.add({ document, score });
    }
  }

  get clauses(): RankedClause[] {
    return this.#question.clauses.map(({ text }, part) => ({
      clause: text,
      terms: this.#scorer.clauseTerms(part),
      rows: this.#best[part]?.items ?? [],
    }));
  }
}

/** The several rows that a question surely needs, clause by clause; nothing when one row is all that it asks for. */
export const findSteps = (clauses: readonly RankedClause[]): RankedClause[] => findFitting(clauses, STEP_SCORE_MIN);

/** The several rows that a question may need: what {@link findSteps} finds, and more. */
export const findNeeds = (clauses: readonly RankedClause[]): RankedClause[] => findFitting(clauses, CLAUSE_SCORE_MIN);

function findFitting(clauses: readonly RankedClause[], scoreMin: number): RankedClause[] {
  const fitting = clauses.filter(({ rows: [first] }) => (first?.score ?? 0) >= scoreMin);
  const strongest = new Map<number, RankedClause>();
  for (const clause of fitting) {
    const [first] = clause.rows;
    if (first !== undefined && first.score > (strongest.get(first.document)?.rows[0]?.score ?? 0)) {
      strongest.set(first.document, clause);
    }
  }
  return strongest.size < 2 ? [] : fitting.filter((clause) => [...strongest.values()].includes(clause)).map(toStepRows);
}

const toStepRows = ({ rows, ...clause }: RankedClause): RankedClause => ({ ...clause, rows: rows.slice(0, STEP_ROWS) });

/**
 * How much the best row of some clause stands out: how well it fits, how far the next ones are behind, and how much the
 * clause says. 0 without clauses.
 */
export function toDistinction(clauses: readonly RankedClause[]): number {
  let most = 0;
  for (const { rows, terms } of clauses) {
    const [first, ...others] = rows;
    if (first === undefined || first.score <= 0) continue;
    const mean = others.length === 0 ? 0 : others.reduce((sum, { score }) => sum + score, 0) / others.length;
    most = Math.max(most, (first.score - mean) * Math.log(1 + terms));
  }
  return most;
}
