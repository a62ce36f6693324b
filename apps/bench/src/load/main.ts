import { generateLoad } from './generate.js';
import type { LoadPlan } from './load.js';

// The load generator's own process: it takes a plan over its channel and answers with the result.
process.on('disconnect', () => process.exit(0));
process.on('message', async (plan: LoadPlan) => {
  const result = await generateLoad(plan);
  process.send?.(result);
});
process.send?.({ ready: true });
