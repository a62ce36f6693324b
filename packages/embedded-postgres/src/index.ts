export type { EmbeddedPostgresOptions } from './options.js';
export type { EmbeddedPostgres, EmbeddedPostgresEnd } from './start.js';
export { startEmbeddedPostgres } from './start.js';
