export { nearestKeys } from './nearest.js';
export { QUESTION_LENGTH_MAX } from './normalise.js';
export { type CapabilityDocument, type Hit, Resolver, type SearchOptions } from './resolver.js';
