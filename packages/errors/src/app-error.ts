import { ERROR_CODES, type ErrorCode, type ErrorEntry } from './codes.js';

/** What an {@link AppError} may carry beside its code and message. */
export interface AppErrorOptions {
  /** What follows the code in the literal reason: `ENV` in `credential_missing:ENV`. */
  readonly param?: string;
  /** For the caller: structured facts, such as `did_you_mean`. Sent as members of the problem. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** For the caller: what to do, where that is more exact than the catalogue's text. */
  readonly fix?: string;
  /** For the log only. */
  readonly cause?: unknown;
}

/** A failure that the caller can understand and act on. Anything else thrown is a defect and answers a bare 500. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  readonly fix: string;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.param = options.param;
    this.details = options.details ?? {};
    this.fix = options.fix ?? ERROR_CODES[code].fix;
  }

  /** The code's entry in the catalogue. */
  get entry(): ErrorEntry {
    return ERROR_CODES[this.code];
  }

  /** The literal reason: the code, with its parameter behind a colon where it has one. */
  get reason(): string {
    return this.param === undefined ? this.code : `${this.code}:${this.param}`;
  }

  /** The same failure with more facts for the caller. */
  withDetails(details: Readonly<Record<string, unknown>>): AppError {
    const { code, message, fix, cause, param } = this;
    return new AppError(code, message, {
      fix,
      cause,
      details: { ...this.details, ...details },
      ...(param === undefined ? {} : { param }),
    });
  }
}
