export { type FinishedCall, toAnswerText, toReceiptLinks } from './answer.js';
export { type BuildEngineOptions, buildEngine, type EngineParts } from './build-engine.js';
export type { Caller, DispatchRequest, QueuedCall } from './call.js';
export { type ChangeAuthor, Directory, toRowWrite } from './directory/directory.js';
export { parseRowJson, toRow } from './directory/parse-row.js';
export { keepArgumentOrder } from './directory/row-change.js';
export { type Dispatched, Engine, type ShapedCall } from './engine.js';
export { defineFunction, type FunctionContext, type FunctionDefinition } from './functions/registry.js';
