import type { LoadPlan } from '../load/load.js';

/** A short plan of four connections. */
export const toLoadPlan = (url: string, more: Partial<LoadPlan> = {}): LoadPlan => ({
  url,
  headers: { authorization: 'Bearer k' },
  body: '{"text":"æ"}',
  connections: 4,
  durationMs: 60,
  bodyStart: '{"ok":true',
  sampleEvery: 10,
  ...more,
});
