import ipaddr from 'ipaddr.js';
import { z } from 'zod';

/** Names that hold Rowcall's own secrets. Each may be given as a file by `<NAME>_FILE`. */
const SECRETS = [
  'DATABASE_URL',
  'ROWCALL_OWNER_KEY',
  'ROWCALL_OWNER_KEY_NEXT',
  'ROWCALL_MCP_TOKEN',
  'ROWCALL_SECRET_KEY',
  'ROWCALL_EMBEDDINGS_KEY',
] as const;

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const SECRET_LENGTH_MIN = 16;

const isTimeZone = (zone: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).format() !== '';
  } catch {
    return false;
  }
};

const list = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
);

/** Networks; the word `none` closes what the quick-start default leaves open. */
const netList = z
  .string()
  .transform((text) => (text.trim() === 'none' ? '' : text))
  .pipe(list);

const secret = z.string().min(SECRET_LENGTH_MIN, `must have at least ${SECRET_LENGTH_MIN} characters`);
const postgresUrl = z
  .string()
  .refine((url) => /^postgres(ql)?:\/\//.test(url) && URL.canParse(url), 'must be a postgres:// address');

/** Logs name the address, so no secret may stand in it. */
const serviceUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http(s) address' })
  .refine((url) => !URL.canParse(url) || isBare(new URL(url)), 'must have no user, password or fragment');

const isBare = ({ username, password, hash }: URL): boolean => `${username}${password}${hash}` === '';

/** A retention; 0: for ever. */
const days = z.coerce
  .number('must be a number of days')
  .int('must be whole days')
  .min(0, 'must be 0 or more')
  .max(36_500, 'must be at most 36500');

const schema = z.object({
  ROWCALL_HOST: z.string().min(1).default('127.0.0.1'),
  ROWCALL_PORT: z.coerce.number('must be a port').int('must be a port').min(0).max(65_535).default(8787),
  ROWCALL_DATA_DIR: z.string().min(1).default('.rowcall'),
  DATABASE_URL: postgresUrl.optional(),
  ROWCALL_OWNER_KEY: secret.optional(),
  ROWCALL_OWNER_KEY_NEXT: secret.optional(),
  ROWCALL_TIMEZONE: z.string().refine(isTimeZone, 'must be an IANA time zone, such as Europe/Oslo').optional(),
  ROWCALL_ALLOW_NETS: netList
    .pipe(z.array(z.string().refine(ipaddr.isValidCIDR, 'must be networks, such as 10.0.0.0/8')))
    .optional(),
  ROWCALL_LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
  ROWCALL_PUBLIC_URL: z.url({ protocol: /^https?$/, error: 'must be an http(s) address' }).optional(),
  ROWCALL_PUBLIC_CONTRACTS: z.enum(['on', 'off'], 'must be on or off').default('on'),
  ROWCALL_PUBLIC_CONFIRM: z.enum(['on', 'off'], 'must be on or off').default('on'),
  ROWCALL_MCP_TOKEN: secret.optional(),
  ROWCALL_SECRET_KEY: secret.optional(),
  ROWCALL_FUNCTIONS: z.string().min(1).optional(),
  ROWCALL_LANES: list
    .pipe(z.array(z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/, 'must be lane names')).min(1))
    .default(['default']),
  ROWCALL_PAYLOAD_DAYS: days.default(90),
  ROWCALL_ASK_DAYS: days.default(30),
  ROWCALL_LEARN: z.enum(['on', 'off'], 'must be on or off').default('off'),
  ROWCALL_CONCURRENCY: z.coerce.number('must be a number').int().min(1).max(1_000).default(8),
  ROWCALL_EMBEDDINGS_URL: serviceUrl.optional(),
  ROWCALL_EMBEDDINGS_MODEL: z.string().max(200, 'must have at most 200 characters').optional(),
  ROWCALL_EMBEDDINGS_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{1,4096}$/, 'must be printable ASCII without blanks')
    .optional(),
  ROWCALL_EMBEDDINGS_DIMENSIONS: z.coerce
    .number('must be a number of dimensions')
    .int('must be a whole number of dimensions')
    .min(1, 'must be 1 or more')
    .max(4_096, 'must be at most 4096')
    .optional(),
});

/** Which service puts texts into numbers, for search by meaning. */
export interface EmbeddingSettings {
  /** What `/embeddings` is appended to, such as `https://api.openai.com/v1`. */
  readonly url: string;
  readonly model: string;
  /** Sent as Bearer; undefined for a service that asks for none. */
  readonly key: string | undefined;
  /** Dimensions that the service is asked for; those of the model when not given. */
  readonly dimensions: number | undefined;
}

/** Everything that can be set, checked. Optional members were not given. */
export interface Config {
  /** Address that the API listens on. */
  readonly host: string;
  readonly port: number;
  /** Folder of the embedded database and the generated keys. */
  readonly dataDir: string;
  /** Database to use instead of the embedded one. */
  readonly databaseUrl: string | undefined;
  readonly ownerKey: string | undefined;
  /** Another key of the owner, so that callers can change from one to the other while both are valid. */
  readonly ownerKeyNext: string | undefined;
  /** IANA zone of the owner; the machine's when not given. */
  readonly timeZone: string;
  /** Networks (CIDR) that rows may reach although they are private. Undefined: the quick-start default, loopback. */
  readonly allowNets: readonly string[] | undefined;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  /** Address under which callers reach the API, without a slash at its end. */
  readonly publicUrl: string | undefined;
  /** False: contracts and search need a credential. */
  readonly publicContracts: boolean;
  /** False: confirmations need a credential. */
  readonly publicConfirm: boolean;
  readonly mcpToken: string | undefined;
  readonly secretKey: string | undefined;
  /** Folder of modules that define functions, beside the built-in ones. */
  readonly functionFolder: string | undefined;
  /** Days that payloads of receipts are kept; 0: for ever. */
  readonly payloadDays: number;
  /** Days that asks are kept; 0: for ever. */
  readonly askDays: number;
  /** True: what was called after a question breaks ties between rows that fit the next one alike. */
  readonly learn: boolean;
  /** Lanes that a runner serves. */
  readonly lanes: readonly string[];
  /** Calls that a runner runs at the same time. */
  readonly concurrency: number;
  /** Undefined: search is by words alone. */
  readonly embeddings: EmbeddingSettings | undefined;
}

/** Names the environment variables that are wrong, all at once. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`bad configuration:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Checks the environment.
 * @param env process.env of the caller.
 * @param readFile reads a secret's file; what it throws becomes a problem.
 * @throws ConfigError with every problem.
 */
export function parseConfig(env: Env, readFile: (path: string) => string): Config {
  const { values, problems } = resolveSecrets(env, readFile);
  const parsed = schema.safeParse(values);
  for (const issue of parsed.error?.issues ?? []) problems.push(`${issue.path[0]?.toString()} ${issue.message}`);
  problems.push(...embeddingsProblems(values), ...unknownNames(env));
  if (problems.length > 0 || !parsed.success) throw new ConfigError(problems);
  return toConfig(parsed.data);
}

/** Takes each secret from its variable, else from the file that `<NAME>_FILE` names. An empty variable counts as not set. */
function resolveSecrets(env: Env, readFile: (path: string) => string): { values: Env; problems: string[] } {
  const values: Record<string, string | undefined> = {};
  for (const name of Object.keys(schema.shape)) values[name] = env[name] === '' ? undefined : env[name];
  const problems: string[] = [];
  for (const name of SECRETS) {
    const path = env[`${name}_FILE`];
    if (values[name] !== undefined || path === undefined || path === '') continue;
    try {
      values[name] = readFile(path).trim();
    } catch (error) {
      problems.push(`${name}_FILE cannot be read: ${(error as Error).message}`);
    }
  }
  return { values, problems };
}

/** Settings of the command-line client, which may share a shell with the server. */
const CLIENT_SETTINGS = ['ROWCALL_URL', 'ROWCALL_TOKEN'];

/** A misspelt ROWCALL_ name would otherwise be ignored in silence. */
function unknownNames(env: Env): string[] {
  const known = new Set([...CLIENT_SETTINGS, ...Object.keys(schema.shape), ...SECRETS.map((name) => `${name}_FILE`)]);
  return Object.keys(env)
    .filter((name) => name.startsWith('ROWCALL_') && !known.has(name))
    .map(
      (name) =>
        `${name} is not a setting; the settings are ${[...known].filter((n) => n.startsWith('ROWCALL_')).join(', ')}`,
    );
}

/** The address and the model go together, and the rest is of no use without them. */
function embeddingsProblems(values: Env): string[] {
  const isSet = (name: string) => values[`ROWCALL_EMBEDDINGS_${name}`] !== undefined;
  const given = ['URL', 'MODEL', 'KEY', 'DIMENSIONS'].find(isSet);
  if (given === undefined) return [];
  return ['URL', 'MODEL']
    .filter((name) => !isSet(name))
    .map((name) => `ROWCALL_EMBEDDINGS_${name} must be set, as ROWCALL_EMBEDDINGS_${given} is`);
}

function toEmbeddings(data: z.output<typeof schema>): EmbeddingSettings | undefined {
  const { ROWCALL_EMBEDDINGS_URL: url, ROWCALL_EMBEDDINGS_MODEL: model } = data;
  if (url === undefined || model === undefined) return undefined;
  return { url, model, key: data.ROWCALL_EMBEDDINGS_KEY, dimensions: data.ROWCALL_EMBEDDINGS_DIMENSIONS };
}

function toConfig(data: z.output<typeof schema>): Config {
  return {
    host: data.ROWCALL_HOST,
    port: data.ROWCALL_PORT,
    dataDir: data.ROWCALL_DATA_DIR,
    databaseUrl: data.DATABASE_URL,
    ownerKey: data.ROWCALL_OWNER_KEY,
    ownerKeyNext: data.ROWCALL_OWNER_KEY_NEXT,
    timeZone: data.ROWCALL_TIMEZONE ?? new Intl.DateTimeFormat().resolvedOptions().timeZone,
    allowNets: data.ROWCALL_ALLOW_NETS,
    logLevel: data.ROWCALL_LOG_LEVEL,
    publicUrl: data.ROWCALL_PUBLIC_URL?.replace(/\/+$/, ''),
    publicContracts: data.ROWCALL_PUBLIC_CONTRACTS === 'on',
    publicConfirm: data.ROWCALL_PUBLIC_CONFIRM === 'on',
    mcpToken: data.ROWCALL_MCP_TOKEN,
    secretKey: data.ROWCALL_SECRET_KEY,
    functionFolder: data.ROWCALL_FUNCTIONS,
    payloadDays: data.ROWCALL_PAYLOAD_DAYS,
    askDays: data.ROWCALL_ASK_DAYS,
    learn: data.ROWCALL_LEARN === 'on',
    lanes: data.ROWCALL_LANES,
    concurrency: data.ROWCALL_CONCURRENCY,
    embeddings: toEmbeddings(data),
  };
}
