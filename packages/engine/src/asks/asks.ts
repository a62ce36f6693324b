import type { Log } from '@rowcall/protocol';
import { type Redactor, toColumnText } from '@rowcall/receipts';
import { ANYONE, type NewAsk, type Store } from '@rowcall/store';
import { buildValueRedactor } from '../http/redact.js';
import { newAskId } from '../ids.js';
import { type AskedBy, AskLimits } from './ask-limits.js';
import { AskWriter } from './ask-writer.js';
import { RecentAsks } from './recent-asks.js';

/** Characters of a question that are looked at, and that are kept: what is kept is cut when it is redacted. */
const QUESTION_READ_MAX = 16_384;
const QUESTION_MAX = 500;
/** Rows of an answer that are kept. */
const KEYS_MAX = 12;

/** A question and what it was answered. */
export interface Asked extends AskedBy {
  readonly question: string;
  /** Keys of the answer, the best first. */
  readonly keys: readonly string[];
  /** Key of the row that fits; null when none does. */
  readonly best: string | null;
  /** 0 to 1. */
  readonly confidence: number;
  /** Of the best row. */
  readonly category: string | null;
}

/** What {@link Asks} work with. */
export interface AsksOptions {
  readonly store: Pick<Store, 'pool' | 'db'>;
  /** Cuts secrets out of what is kept, up to date. */
  readonly redactor: { readonly current: Redactor };
  /** Secrets of the deployment's own, such as the owner key: anybody may put one into a question, and questions are kept. */
  readonly ownSecrets: readonly string[];
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Keeps what was asked and answered, so that the calls that follow tell how good the answers are. No answer waits for it
 * or fails by it, and what it keeps is bounded: asks beyond the bounds are counted and have an id all the same.
 */
export class Asks {
  readonly #redactor: AsksOptions['redactor'];
  readonly #ownRedactor: Redactor;
  readonly #now: () => number;
  readonly #limits: AskLimits;
  readonly #recent: RecentAsks;
  readonly #writer: AskWriter;
  /** Asks beyond the limits. */
  #refused = 0;

  constructor({ store, redactor, ownSecrets, log, now }: AsksOptions) {
    this.#redactor = redactor;
    this.#ownRedactor = buildValueRedactor(ownSecrets);
    this.#now = now;
    this.#limits = new AskLimits(now);
    this.#recent = new RecentAsks(now);
    this.#writer = new AskWriter({ store, log });
  }

  /** Asks that this process has not kept, since it started. */
  get dropped(): number {
    return this.#refused + this.#writer.dropped;
  }

  /** Takes an ask. @returns its id: that of the ask which it repeats, where it does. */
  record(asked: Asked): string {
    const question = this.#toQuestion(asked.question);
    const keys = asked.keys.slice(0, KEYS_MAX);
    const same = this.#recent.find(asked, question, keys);
    if (same !== undefined) {
      this.#writer.push(same);
      return same.id;
    }
    const ask = this.#toAsk(asked, question, keys);
    if (this.#limits.admit(asked)) {
      this.#recent.add(asked, ask);
      this.#writer.push(ask);
    } else {
      this.#refused += 1;
    }
    return ask.id;
  }

  /** Takes that a contract was read in the name of an ask; for the ask's caller, or for anybody who knows its id. */
  noteRead({ id, key, actor = ANYONE }: { id: string; key: string; actor?: string | undefined }): void {
    this.#writer.pushRead({ id, key, actor });
  }

  /** Writes what waits. @throws what the database throws: then it still waits. */
  flush(): Promise<void> {
    return this.#writer.flush();
  }

  /** Writes what waits, and stops. */
  stop(): Promise<void> {
    return this.#writer.stop();
  }

  #toQuestion(question: string): string {
    const text = this.#ownRedactor.text(question.slice(0, QUESTION_READ_MAX));
    return toColumnText(this.#redactor.current.text(text), QUESTION_MAX);
  }

  #toAsk({ actor, best, confidence, category }: Asked, question: string, keys: readonly string[]): NewAsk {
    const at = new Date(this.#now()).toISOString();
    return { id: newAskId(), at, actor, question, keys, best, confidence, category, times: 1 };
  }
}
