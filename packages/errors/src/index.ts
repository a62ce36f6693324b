export { AppError, type AppErrorOptions } from './app-error.js';
export { ERROR_CODES, type ErrorCode, type ErrorEntry, isErrorCode } from './codes.js';
export { unreachable } from './unreachable.js';
