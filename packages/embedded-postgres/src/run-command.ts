import { execFile } from 'node:child_process';

/** How a short command ended. */
export interface CommandResult {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Under which user a short command runs; its own if not given. */
export interface CommandUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** Environment of every process of the database: nothing of the caller's `PG*`, locale or time zone gets in. */
export function databaseEnvironment(): Record<string, string> {
  const kept = ['PATH', 'SystemRoot', 'SYSTEMROOT', 'TEMP', 'TMP'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(kept), LC_ALL: 'C', TZ: 'UTC', HOME: '/' };
}

/** Runs a short command from the root folder, at most 10 s. Never throws: a command that is not there is not ok. */
export function runCommand(argv: readonly [string, ...string[]], user: CommandUser = {}): Promise<CommandResult> {
  const [command, ...rest] = argv;
  const options = { cwd: '/', env: databaseEnvironment(), timeout: 10_000, windowsHide: true, ...user };
  return new Promise((resolve) => {
    try {
      execFile(command, rest, options, (error, stdout, stderr) => {
        resolve({ ok: error === null, stdout, stderr: stderr || (error?.message ?? '') });
      });
    } catch (error) {
      resolve({ ok: false, stdout: '', stderr: String(error) });
    }
  });
}
