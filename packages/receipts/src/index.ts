export {
  type Attempt,
  type AttemptedRow,
  buildReceipt,
  type Ending,
  hashInput,
  type Input,
  type Redactor,
} from './build.js';
export { sha256 } from './hash.js';
export { isMaterial } from './material.js';
