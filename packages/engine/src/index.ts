export { type FinishedCall, toAnswerText, toReceiptLinks } from './answer.js';
export { type BuildEngineOptions, buildEngine, type EngineParts } from './build-engine.js';
export type { Caller, DispatchRequest, QueuedCall } from './call.js';
export { type Dispatched, Engine, type ShapedCall } from './engine.js';
export {
  defineFunction,
  type FunctionContext,
  type FunctionDefinition,
  type FunctionRegistry,
} from './functions/registry.js';
