import type { JsonValue } from '@rowcall/protocol';
import type { Kysely } from 'kysely';
import type { Database } from './schema.js';

/** Something that happened to the deployment. Directory changes write theirs by trigger. */
export interface NewEvent {
  /** Upper-case name, such as `UNAUTHORIZED`. */
  readonly kind: string;
  readonly actor: string;
  readonly key?: string;
  readonly reason?: string;
  readonly detail?: Readonly<Record<string, JsonValue>>;
}

/** Writes one event. */
export async function insertEvent(db: Kysely<Database>, event: NewEvent): Promise<void> {
  await db
    .insertInto('event')
    .values({
      kind: event.kind,
      actor: event.actor,
      key: event.key ?? null,
      reason: event.reason ?? null,
      detail: JSON.stringify(event.detail ?? {}),
    })
    .execute();
}
