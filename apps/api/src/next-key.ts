import type { ServerConfig } from '@rowcall/process';
import type { Log } from '@rowcall/protocol';
import { insertEvent } from '@rowcall/store';
import type { Context } from './context.js';

const REASON = 'ROWCALL_OWNER_KEY_NEXT is set: two keys are the owner until it is taken away';

/** Says in the log and as an event, at the start, that there is a second owner key; never what it is. */
export async function noteNextKey(
  { store }: Context,
  log: Log,
  { ownerKeyNext }: Pick<ServerConfig, 'ownerKeyNext'>,
): Promise<void> {
  if (ownerKeyNext === undefined) return;
  log.warn({}, REASON);
  await insertEvent(store.db, { kind: 'OWNER_KEY_NEXT', actor: 'system', reason: REASON });
}
