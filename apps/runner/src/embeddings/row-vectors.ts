import { type Catalogue, isProjected, toEmbeddingText } from '@rowcall/catalogue';
import { type EmbeddingClient, EmbeddingError, quantise } from '@rowcall/embeddings';
import type { Log } from '@rowcall/protocol';
import {
  type EmbeddedText,
  findEmbeddingDimensions,
  listEmbeddedKeys,
  type Store,
  saveRowEmbeddings,
  takeEmbeddingTurn,
} from '@rowcall/store';
import { firstOf } from './first-of.js';

/** Texts of one request at the most. */
const BATCH_MAX = 64;
/** How long, in ms, a request may take. */
const TIMEOUT_MS = 30_000;
/** A text that every service takes. */
const PROBE = 'the current date and time';

type Db = Store['db'];

interface RowText extends EmbeddedText {
  /** Version of the row that the text is of. */
  readonly version: number;
  readonly text: string;
}

/** What a {@link RowVectors} works with. */
export interface RowVectorsOptions {
  readonly store: Pick<Store, 'db'>;
  readonly catalogue: Pick<Catalogue, 'find'>;
  readonly client: Pick<EmbeddingClient, 'embed'>;
  /** What vectors come from, as `toModelName` names it. */
  readonly model: string;
  readonly sha256: (text: string) => string;
  readonly log: Log;
  /** Aborted when nobody wants the vectors any more. */
  readonly signal: AbortSignal;
}

/** Finds rows that have no vector of their text, and has a batch of them computed and stored. */
export class RowVectors {
  readonly #options: RowVectorsOptions;
  /** Texts of the next request: some services take fewer at once. */
  #batchMax = BATCH_MAX;
  /** The texts that the service does not take, by their keys: their hashes. */
  readonly #refused = new Map<string, string>();

  constructor(options: RowVectorsOptions) {
    this.#options = options;
  }

  /** Lets texts be tried again that the service did not take. */
  forgetRefused(): void {
    this.#refused.clear();
  }

  /** Of the given keys, those that search shows and that have no vector. */
  async listMissing(keys: readonly string[]): Promise<string[]> {
    return (await this.#listOpen(this.#options.store.db, keys)).map(({ key }) => key);
  }

  /**
   * Computes and stores vectors of the first of the given keys, unless another process is at it.
   * @returns the keys that are done with; undefined when another process has the turn.
   * @throws EmbeddingError what the service failed with, and what the database throws.
   */
  compute(keys: Iterable<string>): Promise<readonly string[] | undefined> {
    const batch = firstOf(keys, this.#batchMax);
    return takeEmbeddingTurn(this.#options.store.db, async (tx) => {
      const open = await this.#listOpen(tx, batch);
      return open.length === 0 || (await this.#computeOpen(tx, open)) ? batch : [];
    });
  }

  /** The texts that have no vector, now that nobody else computes any. */
  async #listOpen(db: Db, keys: readonly string[]): Promise<RowText[]> {
    const texts = keys.map((key) => this.#findText(key)).filter((text) => text !== undefined);
    const wanted = texts.filter(({ key, textSha256 }) => this.#refused.get(key) !== textSha256);
    const done = new Set(wanted.length === 0 ? [] : await listEmbeddedKeys(db, this.#options.model, wanted));
    return wanted.filter(({ key }) => !done.has(key));
  }

  #findText(key: string): RowText | undefined {
    const { catalogue, sha256 } = this.#options;
    const row = catalogue.find(key)?.row;
    if (row === undefined || !isProjected(row)) return undefined;
    const text = toEmbeddingText(row);
    return { key, text, textSha256: sha256(text), version: row.version };
  }

  /** @returns false when the texts are to be tried again, fewer at once. */
  async #computeOpen(tx: Db, open: readonly RowText[]): Promise<boolean> {
    try {
      await this.#save(tx, open, await this.#embed(open.map(({ text }) => text)));
      return true;
    } catch (error) {
      if (!(error instanceof EmbeddingError) || error.failure !== 'refused') throw error;
      const [first, second] = open;
      if (first === undefined || second !== undefined) {
        this.#batchMax = Math.ceil(open.length / 2);
        return false;
      }
      await this.#refuse(first, error);
      return true;
    }
  }

  #embed(texts: readonly string[]): Promise<Float32Array[]> {
    const { client, signal } = this.#options;
    return client.embed(texts, { timeoutMs: TIMEOUT_MS, signal });
  }

  async #save(tx: Db, texts: readonly RowText[], vectors: readonly Float32Array[]): Promise<void> {
    const { model } = this.#options;
    const dimensions = vectors[0]?.length ?? 0;
    const known = (await findEmbeddingDimensions(tx, model)) ?? dimensions;
    if (known !== dimensions) throw toDimensionError(dimensions, known);
    const embeddings = texts.flatMap((text, at) => {
      const vector = vectors[at];
      return vector === undefined ? [] : [{ ...text, ...quantise(vector) }];
    });
    await saveRowEmbeddings(tx, model, embeddings);
  }

  /** Leaves a text aside that the service does not take. @throws the refusal, when it takes no other text either. */
  async #refuse({ key, textSha256 }: RowText, refusal: EmbeddingError): Promise<void> {
    await this.#embed([PROBE]).catch((error: unknown) => {
      throw error instanceof EmbeddingError && error.failure === 'refused' ? refusal : error;
    });
    this.#options.log.warn({ key }, 'the embeddings service does not take the text of a row; it is found by its words');
    this.#refused.set(key, textSha256);
    this.#batchMax = BATCH_MAX;
  }
}

const toDimensionError = (answered: number, known: number): EmbeddingError =>
  new EmbeddingError(
    'bad_answer',
    `the embeddings service answered ${answered} dimensions, and the stored vectors have ${known}: ` +
      `set ROWCALL_EMBEDDINGS_DIMENSIONS, or delete what is in the table row_embedding`,
  );
