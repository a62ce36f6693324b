import { resolve } from 'node:path';

/** What the caller of {@link startEmbeddedPostgres} chooses. */
export interface EmbeddedPostgresOptions {
  /** The data folder. Made when it does not exist; its log is `<dir>.log` beside it. Not a mount point. */
  readonly dir: string;
  /**
   * For tests: nothing is synced to disk, the role may create databases, and folder and log are removed at stop. If the
   * process is killed they stay, and the next start goes on with them: use a new folder for each run.
   */
  readonly ephemeral?: boolean;
  /** The database that the role `rowcall` owns. Default `rowcall`; lower-case letters, digits, `_`, at most 63. */
  readonly database?: string;
  /** Further server settings, as in postgresql.conf. Those that keep the server private cannot be changed. */
  readonly settings?: Readonly<Record<string, string>>;
  /** TCP port on 127.0.0.1. Default: the one used last time if it is free, else any free one. */
  readonly port?: number;
}

/** The options, checked and with their defaults. */
export interface LaunchPlan {
  readonly dir: string;
  readonly ephemeral: boolean;
  readonly database: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly port: number | undefined;
}

/** Set by the launcher after everything else: only loopback, only passwords, one log. */
const FIXED_SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  password_encryption: 'scram-sha-256',
  logging_collector: 'off',
  log_destination: 'stderr',
  log_line_prefix: '%m [%p] ',
};

const FORBIDDEN_SETTINGS = new Set([
  ...Object.keys(FIXED_SETTINGS),
  'port',
  'data_directory',
  'config_file',
  'hba_file',
  'ident_file',
]);

const SHARED_SETTINGS = { max_connections: '200', log_timezone: 'UTC', timezone: 'UTC' };
const DURABLE_SETTINGS = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' };
const EPHEMERAL_SETTINGS = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' };
const RESERVED_DATABASES = new Set(['postgres', 'template0', 'template1']);

/** Checks the options. Throws an Error that names the first one that does not fit. */
export function toLaunchPlan(options: EmbeddedPostgresOptions): LaunchPlan {
  if (options.dir.trim() === '') throw new Error('the embedded database needs a folder: dir is empty');
  const database = options.database ?? 'rowcall';
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(database) || RESERVED_DATABASES.has(database)) {
    throw new Error(`database name "${database}" is not usable: use lower-case letters, digits and _, at most 63`);
  }
  const { port } = options;
  if (port !== undefined && !(Number.isInteger(port) && port >= 1 && port <= 65_535)) {
    throw new Error(`port ${port} is not usable: give a whole number from 1 to 65535`);
  }
  const settings = options.settings ?? {};
  for (const [name, value] of Object.entries(settings)) checkSetting(name, value);
  return { dir: resolve(options.dir), ephemeral: options.ephemeral ?? false, database, settings, port };
}

function checkSetting(name: string, value: string): void {
  if (!/^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?$/.test(name)) {
    throw new Error(`setting "${name}" is not a Postgres setting name: use lower-case letters, digits and _`);
  }
  if (FORBIDDEN_SETTINGS.has(name)) {
    throw new Error(
      `setting "${name}" is fixed by the launcher: remove it, or set DATABASE_URL to a server of your own`,
    );
  }
  if (value.includes('\0')) throw new Error(`setting "${name}" holds a zero byte: remove it`);
}

/** The arguments of `postgres` for a plan; later ones win, so the fixed settings come last. */
export function toPostgresArguments(plan: LaunchPlan, port: number): string[] {
  const settings = {
    ...SHARED_SETTINGS,
    ...(plan.ephemeral ? EPHEMERAL_SETTINGS : DURABLE_SETTINGS),
    ...plan.settings,
    ...FIXED_SETTINGS,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return ['-D', plan.dir, '-p', String(port), ...flags];
}

/** The arguments of `initdb`: the same result whatever locale and encoding the machine has, passwords from the start. */
export function toInitdbArguments(folder: string, passwordFile: string, plan: LaunchPlan): string[] {
  return [
    `--pgdata=${folder}`,
    '--username=postgres',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--no-instructions',
    ...(plan.ephemeral ? ['--no-sync'] : []),
  ];
}
