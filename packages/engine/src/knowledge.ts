import type { Catalogue } from '@rowcall/catalogue';
import { AppError } from '@rowcall/errors';
import type { Caller, QueuedCall } from './call.js';
import type { GrantBook } from './grants/grant-book.js';

/** How long, in ms, a call waits for a catalogue that may have missed changes. */
const FRESH_WAIT_MS = 2_000;

/** What {@link Knowledge} is of. */
export interface KnowledgeContext {
  readonly catalogue: Catalogue;
  readonly grants: GrantBook;
  readonly now: () => number;
}

/** What a process knows of rows and grants, made good before a call is decided by it. */
export class Knowledge {
  readonly #context: KnowledgeContext;

  constructor(context: KnowledgeContext) {
    this.#context = context;
  }

  /** Whether changes may have been missed. */
  get isStale(): boolean {
    return this.#context.catalogue.staleSince !== undefined;
  }

  /** @throws AppError ledger_unavailable when changes may have been missed, and it stays so. */
  async requireFresh(): Promise<void> {
    const { catalogue, now } = this.#context;
    if (!this.isStale || (await catalogue.whenFresh(FRESH_WAIT_MS))) return;
    throw new AppError('ledger_unavailable', 'the database is out of reach; nothing was run', {
      details: { stale_since: new Date(catalogue.staleSince ?? now()).toISOString() },
    });
  }

  /** The caller, whose grants are looked at anew: they may have been revoked while nothing was heard. */
  async renew(caller: Caller): Promise<Caller> {
    await this.requireFresh();
    const own = caller.chain.at(-1)?.fingerprint;
    return { ...caller, chain: own === undefined ? caller.chain : await this.#getChain(own) };
  }

  /** Reads the row of a queued call where this process may not have it yet. @throws AppError ledger_unavailable. */
  async ensureRow({ key, rowVersion }: QueuedCall): Promise<void> {
    try {
      await this.#context.catalogue.ensure(key, rowVersion);
    } catch (error) {
      throw new AppError('ledger_unavailable', 'the row could not be read; nothing was run', { cause: error });
    }
  }

  /** Who makes a call that was kept in the database. @throws AppError unauthorized when its grant is gone. */
  async toQueuedCaller({ actor, traceparent, grant, audience, parent, trace, depth }: QueuedCall): Promise<Caller> {
    const chain = grant === null ? [] : await this.#getChain(grant);
    const caller = { actor, traceparent, chain, audience: audience ?? undefined };
    // What it is made within still bounds it, here as where it was queued.
    return parent === null ? caller : { ...caller, parent: { id: parent, trace, depth } };
  }

  async #getChain(fingerprint: string) {
    const chain = await this.#context.grants.find(fingerprint);
    if (chain === undefined) throw new AppError('unauthorized', `the grant ${fingerprint} is not there`);
    return chain;
  }
}
