export type { LearnedPair } from './learned.js';
export { nearestKeys } from './nearest.js';
export { QUESTION_LENGTH_MAX } from './normalise.js';
export { type CapabilityDocument, type Hit, type Ranking, Resolver, type SearchOptions } from './resolver.js';
export type { ScoreParts } from './scorer.js';
export type { Step } from './steps.js';
