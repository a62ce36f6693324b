import type { Entry } from '@rowcall/catalogue';
import type { CallExample } from '@rowcall/contract';
import type { Caller } from '@rowcall/engine';
import { decide } from '@rowcall/grants';
import type { DoorContext } from '../context.js';

/** The call that a reader may make at once. */
export interface RunNow {
  readonly method: 'GET';
  /** Without the token, unless the reader sent it in an address. */
  readonly url: string;
}

/** Who asks, and the token that stands in the address, if one does. */
export interface Asker {
  readonly reader?: Caller | undefined;
  readonly share?: string | undefined;
  /** What tells askers without a credential apart. */
  readonly network?: string | undefined;
}

/**
 * The ready link of a row's example, where the reader's grant allows the call now, by the gate's own decision; undefined
 * for the owner, whose key makes no links, and for anyone.
 */
export function toRunNow(
  { baseUrl }: DoorContext,
  entry: Entry,
  {
    example,
    reader,
    share,
    askId,
  }: Asker & { readonly example: CallExample | null | undefined; readonly askId?: string | undefined },
): { run_now?: RunNow } {
  if (reader === undefined || reader.chain.length === 0) return {};
  const input = example == null || 'body' in example ? { body: example?.body ?? '' } : { args: example.args };
  const isFixed = reader.chain.some(({ terms }) => terms.fixed_body !== null);
  const request = { audience: reader.audience, expectContract: undefined, approved: true };
  const decision = decide(reader.chain, entry, { ...request, input: isFixed ? { body: '' } : input }, Date.now());
  if (!decision.allowed) return {};
  const query = new URLSearchParams({ invoke: entry.key });
  if (!isFixed) query.set('body' in input ? 'body' : 'args', 'body' in input ? input.body : JSON.stringify(input.args));
  if (reader.audience !== undefined) query.set('audience', reader.audience);
  if (askId !== undefined) query.set('ask_id', askId);
  if (share !== undefined) query.set('share', share);
  return { run_now: { method: 'GET', url: `${baseUrl()}/api/dispatch?${query}` } };
}
