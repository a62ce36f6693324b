import type { Directory } from '../directory/directory.js';
import type { Grants } from '../grants/grants.js';
import type { HttpRunner } from '../http/types.js';
import type { Lineage } from '../lineage.js';
import { buildGrantFunctions } from './authority.js';
import { buildDirectoryFunctions } from './directory.js';
import { buildHttpFetch } from './http-fetch.js';
import { JSON_FUNCTIONS } from './json.js';
import { buildLedgerFunctions } from './ledger.js';
import { now } from './now.js';
import type { FunctionDefinition } from './registry.js';
import { TEXT_FUNCTIONS } from './text.js';

/** What built-in functions work with. */
export interface BuiltInParts {
  readonly http: HttpRunner;
  readonly directory: Directory;
  readonly grants: Grants;
  readonly lineage: Lineage;
}

/** Functions that every process has. A new one is a definition in this folder and a line here. */
export const buildBuiltIns = ({ http, directory, grants, lineage }: BuiltInParts): readonly FunctionDefinition[] => [
  now,
  ...TEXT_FUNCTIONS,
  ...JSON_FUNCTIONS,
  buildHttpFetch(http),
  ...buildDirectoryFunctions(directory),
  ...buildGrantFunctions(grants),
  ...buildLedgerFunctions(lineage),
];
