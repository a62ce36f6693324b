import type { Directory } from '../directory/directory.js';
import type { HttpRunner } from '../http/types.js';
import { buildDirectoryFunctions } from './directory.js';
import { buildHttpFetch } from './http-fetch.js';
import { JSON_FUNCTIONS } from './json.js';
import { now } from './now.js';
import type { FunctionDefinition } from './registry.js';
import { TEXT_FUNCTIONS } from './text.js';

/** What built-in functions work with. */
export interface BuiltInParts {
  readonly http: HttpRunner;
  readonly directory: Directory;
}

/** Functions that every process has. A new one is a definition in this folder and a line here. */
export const buildBuiltIns = ({ http, directory }: BuiltInParts): readonly FunctionDefinition[] => [
  now,
  ...TEXT_FUNCTIONS,
  ...JSON_FUNCTIONS,
  buildHttpFetch(http),
  ...buildDirectoryFunctions(directory),
];
