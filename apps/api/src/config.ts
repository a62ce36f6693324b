import { readFileSync } from 'node:fs';
import { type Config, ConfigError, parseConfig } from '@rowcall/config';

const readFile = (path: string): string => readFileSync(path, 'utf8');

/** The API's configuration: everything of {@link Config}, and a database, which it cannot do without. */
export interface ApiConfig extends Config {
  readonly databaseUrl: string;
}

/** Reads the environment. @throws ConfigError with every problem. */
export function readConfig(): ApiConfig {
  const config = parseConfig(process.env, readFile);
  if (config.databaseUrl === undefined) {
    throw new ConfigError(['DATABASE_URL is not set; npm start brings a database of its own']);
  }
  return { ...config, databaseUrl: config.databaseUrl };
}

/** The value of a variable that a row names, or of the file that `<NAME>_FILE` names. Read at each call: it may be rotated. */
export function readCredential(name: string): string | undefined {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  const path = process.env[`${name}_FILE`];
  return path === undefined || path === '' ? undefined : readFile(path).trim();
}
