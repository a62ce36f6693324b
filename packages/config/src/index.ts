export { type Config, ConfigError, parseConfig } from './parse.js';
