import { readFileSync } from 'node:fs';
import { type Config, ConfigError, parseConfig } from '@rowcall/config';

const readFile = (path: string): string => readFileSync(path, 'utf8');

/** Reads the environment of the process. @throws ConfigError with every problem. */
export function readConfig(): Config {
  return parseConfig(process.env, readFile);
}

/** The configuration of a process that brings no database of its own. */
export interface ServerConfig extends Config {
  readonly databaseUrl: string;
}

/** Like {@link readConfig}, for a process that cannot do without a database. @throws ConfigError with every problem. */
export function readServerConfig(): ServerConfig {
  const config = readConfig();
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

/** The environment of this process, for the processes that it starts. */
export function copyEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env };
}
