/** What Postgres writes into `postmaster.pid` while it starts and runs. */
export interface PidFile {
  /** Process id of the postmaster. */
  readonly pid: number;
  /** TCP port; not yet there at the very start. */
  readonly port: number | undefined;
  /** Whether the server takes connections. */
  readonly ready: boolean;
}

/** Reads the text of a `postmaster.pid` (line 1 pid, line 4 port, line 8 status). Undefined if it holds no pid. */
export function parsePidFile(text: string): PidFile | undefined {
  const lines = text.split('\n').map((line) => line.trim());
  // A standalone backend writes its pid with a minus sign.
  const pid = Math.abs(Number(lines[0] || Number.NaN));
  if (!Number.isSafeInteger(pid) || pid === 0) return undefined;
  return { pid, port: toPort(lines[3]), ready: lines[7] === 'ready' };
}

/** The port in the text of a `postmaster.opts`, which Postgres leaves behind at the end: the one used last time. */
export function parseLastPort(text: string): number | undefined {
  return toPort(/"-p" "(\d+)"/.exec(text)?.[1]);
}

function toPort(text: string | undefined): number | undefined {
  const port = Number(text || Number.NaN);
  return Number.isInteger(port) && port > 0 && port <= 65_535 ? port : undefined;
}
