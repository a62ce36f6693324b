export { type Config, ConfigError, type EmbeddingSettings, parseConfig } from './parse.js';
