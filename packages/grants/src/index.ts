export { type CallRequest, checkLive, type Denied, denyScope, toAppError } from './checks.js';
export { covers, mayRead, type Place } from './covers.js';
export {
  describeGrant,
  type ExplainContext,
  explain,
  type GrantDescription,
  type GrantUse,
  toState,
} from './explain.js';
export { type Allowed, decide } from './gate.js';
export type { Chain, Grant, RowFacts, Rows } from './grant.js';
export { narrow } from './narrow.js';
export { type MintContext, mint } from './terms.js';
export { hashToken, isToken, toActor, toGrantFingerprint, toToken } from './token.js';
