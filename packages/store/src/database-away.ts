/** Network failures of a connection, by the codes of Node.js. */
const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/** SQLSTATE of a connection that failed (08), a server that is full (53), stopping or starting (57P). */
const SQLSTATES = /^(08...|53...|57P..)$/;
/** Failures that pg names by their text alone. */
const MESSAGES = /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout)/;

/** Tells whether a statement failed because Postgres is out of reach, and not by a defect. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string') return NETWORK_CODES.has(code) || SQLSTATES.test(code);
  return MESSAGES.test(error.message);
}
