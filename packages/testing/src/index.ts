export {
  type EchoedRequest,
  type EchoUpstream,
  startEchoUpstream,
  startUpstream,
  type TestUpstream,
} from './echo-upstream.js';
export { makeReceipt, makeRow } from './make.js';
export { emptyDatabase, type TestStore, testStore } from './test-store.js';
