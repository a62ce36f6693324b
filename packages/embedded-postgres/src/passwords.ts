import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { errorCode } from './error-text.js';
import type { Identity } from './identity.js';

/** Name of the file, in the data folder, so that cluster and passwords come into being in one rename. */
export const PASSWORD_FILE = 'rowcall-passwords.json';

/** The passwords of one cluster, and what it was made for. */
export interface ClusterSecrets {
  /** Made for tests, without syncing to disk. */
  readonly ephemeral: boolean;
  /** Password of the superuser `postgres`. */
  readonly postgres: string;
  /** Password of the role `rowcall`. */
  readonly rowcall: string;
}

/** New passwords of 192 random bits each. */
export function makeClusterSecrets(ephemeral: boolean): ClusterSecrets {
  const password = () => randomBytes(24).toString('base64url');
  return { ephemeral, postgres: password(), rowcall: password() };
}

/** Writes a file that only its owner, the identity Postgres runs under, can read. Refuses a path that exists. */
export async function writePrivateFile(path: string, text: string, identity: Identity): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    if (identity.uid !== undefined) await file.chown(identity.uid, identity.gid ?? identity.uid);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Reads the passwords of the cluster in `dir`. Throws, without quoting the file, where it is missing or broken. */
export async function readClusterSecrets(dir: string): Promise<ClusterSecrets> {
  const path = join(dir, PASSWORD_FILE);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    const reason =
      errorCode(error) === 'ENOENT'
        ? 'is missing, so the folder was made by something else'
        : `cannot be read (${errorCode(error)})`;
    throw new Error(`${path} ${reason}: choose another folder, or set DATABASE_URL`);
  });
  const secrets = parseClusterSecrets(text);
  if (secrets === undefined) throw new Error(`${path} is damaged: restore it, or choose another folder`);
  return secrets;
}

function parseClusterSecrets(text: string): ClusterSecrets | undefined {
  try {
    const { ephemeral, postgres, rowcall } = JSON.parse(text) as Record<string, unknown>;
    if (typeof ephemeral !== 'boolean' || typeof postgres !== 'string' || typeof rowcall !== 'string') return undefined;
    return { ephemeral, postgres, rowcall };
  } catch {
    return undefined;
  }
}

const ITERATIONS = 4096;

/** The SCRAM-SHA-256 verifier of an ASCII password (RFC 5803), so that no statement or log ever holds the password. */
export async function toScramVerifier(password: string, salt: Buffer = randomBytes(16)): Promise<string> {
  const salted = await promisify(pbkdf2)(password, salt, ITERATIONS, 32, 'sha256');
  const keyed = (text: string) => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64');
  const serverKey = keyed('Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
