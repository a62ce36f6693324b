import { now } from './now.js';
import type { FunctionDefinition } from './registry.js';
import { echo, upper } from './text.js';

/** Functions that every process has. A new one is a definition in this folder and a line here. */
export const BUILT_IN_FUNCTIONS: readonly FunctionDefinition[] = [now, echo, upper];
