import { readFileSync } from 'node:fs';
import { type Config, ConfigError, parseConfig } from '@rowcall/config';

const readFile = (path: string): string => readFileSync(path, 'utf8');

/** The runner's configuration: everything of {@link Config}, and a database, which it cannot do without. */
export interface RunnerConfig extends Config {
  readonly databaseUrl: string;
}

/** Reads the environment. @throws ConfigError with every problem. */
export function readConfig(): RunnerConfig {
  const config = parseConfig(process.env, readFile);
  if (config.databaseUrl === undefined) {
    throw new ConfigError(['DATABASE_URL is not set; npm start brings a database of its own']);
  }
  return { ...config, databaseUrl: config.databaseUrl };
}
