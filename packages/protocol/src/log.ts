/** What the packages ask of a logger; pino's loggers have it. */
export interface Log {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** A log that keeps nothing, for programs that have none. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
