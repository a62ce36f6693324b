import { callAsPlanned } from './call.js';
import type { PacedPlan } from './load.js';

// The calling program's own process: it takes a plan over its channel and answers with the result.
process.on('disconnect', () => process.exit(0));
process.on('message', async (plan: PacedPlan) => {
  const result = await callAsPlanned(plan);
  process.send?.(result);
});
process.send?.({ ready: true });
