import { toInvocationId, toTraceId } from '@rowcall/protocol';
import { v7 } from 'uuid';

/** A new invocation id: time-ordered, unguessable. */
export const newInvocationId = (): string => toInvocationId(v7());

/** A new trace id. */
export const newTraceId = (): string => toTraceId(v7());
