import type { NewAsk } from '../ask.js';

let sequence = 0;

/** An id that begins with a moment. */
export const toIdAt = (prefix: 'ask' | 'inv', ms: number): string => {
  sequence += 1;
  return `${prefix}_${ms.toString(16).padStart(12, '0')}7${sequence.toString(16).padStart(19, '0')}`;
};

/** An ask of the owner's that was answered; give what matters to the test. @param ms its moment, since 1970. */
export function makeAsk(ms: number, ask: Partial<NewAsk> = {}): NewAsk {
  const { keys = ['FIRST', 'SECOND', 'THIRD'] } = ask;
  return {
    id: toIdAt('ask', ms),
    at: new Date(ms).toISOString(),
    actor: 'owner',
    question: 'what comes first',
    keys,
    best: keys[0] ?? null,
    confidence: 0.5,
    category: 'test',
    times: 1,
    ...ask,
  };
}
