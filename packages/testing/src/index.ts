export { makeReceipt, makeRow } from './make.js';
export { emptyDatabase, type TestStore, testStore } from './test-store.js';
