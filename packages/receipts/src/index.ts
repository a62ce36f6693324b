export {
  type Attempt,
  type AttemptedRow,
  buildReceipt,
  type Ending,
  hashInput,
  type Input,
  type Redactor,
  toColumnText,
} from './build.js';
export { sha256 } from './hash.js';
export { type JudgedCall, judgeReplay, type ReplayVerdict } from './judge-replay.js';
export { isMaterial } from './material.js';
export { type TraceNode, toTraceTree } from './trace-tree.js';
