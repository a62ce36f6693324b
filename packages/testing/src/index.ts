export {
  type EchoedRequest,
  type EchoUpstream,
  startEchoUpstream,
  startUpstream,
  type TestUpstream,
} from './echo-upstream.js';
export {
  type EmbeddingsServer,
  sendEmbeddings,
  sendTestVectors,
  startEmbeddingsServer,
  toTestVector,
} from './embeddings-server.js';
export { type Loss, type LostAnswer, loseAnswer } from './lose-answer.js';
export { makeReceipt, makeRow } from './make.js';
export { emptyDatabase, type TestStore, testStore } from './test-store.js';
