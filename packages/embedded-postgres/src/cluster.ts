import { randomBytes } from 'node:crypto';
import { chown, mkdir, open, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Binaries } from './binaries.js';
import { errorCode, errorText } from './error-text.js';
import type { Guard } from './guard.js';
import type { Identity } from './identity.js';
import { runInitdb } from './initdb.js';
import { type LaunchPlan, toInitdbArguments } from './options.js';
import { makeClusterSecrets, PASSWORD_FILE, writePrivateFile } from './passwords.js';
import { isAlive } from './process-check.js';

/** Makes the folder that the data folder is to stand in. Throws what to do where that cannot be. */
export async function makeParentFolder(dir: string): Promise<void> {
  await mkdir(dirname(dir), { recursive: true }).catch((error: unknown) => {
    throw cannotWrite(dirname(dir), error);
  });
}

/** Whether `dir` holds a whole cluster. Throws if it cannot be read, or holds something else. */
export async function hasCluster(dir: string): Promise<boolean> {
  const entries = await readdir(dir).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    if (errorCode(error) === 'ENOTDIR') throw new Error(`${dir} is not a folder: choose another one`);
    throw new Error(
      `cannot read data folder ${dir} (${errorText(error)}): it may belong to another user; ` +
        'start as that user, choose another folder, or set DATABASE_URL',
    );
  });
  if (entries.length === 0) return false;
  const version = await readFile(join(dir, 'PG_VERSION'), 'utf8').catch(() => '');
  if (version.trim() !== '') return true;
  throw new Error(`${dir} is not empty and holds no database: choose an empty or new folder`);
}

interface ClusterMaking {
  readonly plan: LaunchPlan;
  readonly binaries: Binaries;
  readonly identity: Identity;
  readonly guard: Guard;
}

/**
 * Makes a cluster in a folder beside `dir` and renames it, passwords and all, when it is whole: a start that is
 * interrupted leaves no half-made cluster, and of two starts at once one wins and the other finds its work.
 */
export async function createCluster({ plan, binaries, identity, guard }: ClusterMaking): Promise<void> {
  await sweepUnfinished(plan.dir);
  const workshop = `${plan.dir}.init-${process.pid}-${randomBytes(4).toString('hex')}`;
  await mkdir(workshop, { mode: 0o700 }).catch((error: unknown) => {
    throw cannotWrite(dirname(plan.dir), error);
  });
  try {
    if (identity.uid !== undefined) await chown(workshop, identity.uid, identity.gid ?? identity.uid);
    const made = join(workshop, 'data');
    const passwordFile = join(workshop, 'password');
    const secrets = makeClusterSecrets(plan.ephemeral);
    await writePrivateFile(passwordFile, `${secrets.postgres}\n`, identity);
    const args = toInitdbArguments(made, passwordFile, plan);
    await runInitdb(guard, { program: binaries.initdb, args, identity });
    await writePrivateFile(join(made, PASSWORD_FILE), `${JSON.stringify(secrets, null, 2)}\n`, identity);
    await moveIntoPlace(made, plan.dir);
  } finally {
    await rm(workshop, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

/** Removes what starts that have since died left unfinished. */
async function sweepUnfinished(dir: string): Promise<void> {
  const parent = dirname(dir);
  const prefix = `${basename(dir)}.init-`;
  for (const name of await readdir(parent).catch(() => [])) {
    const pid = name.startsWith(prefix) ? /^(\d+)-[0-9a-f]{8}$/.exec(name.slice(prefix.length))?.[1] : undefined;
    if (pid === undefined || isAlive(Number(pid))) continue;
    await rm(join(parent, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

async function moveIntoPlace(made: string, dir: string): Promise<void> {
  try {
    await rmdir(dir).catch(() => undefined); // only ever removes an empty folder
    await rename(made, dir);
  } catch (error) {
    if (await hasCluster(dir)) return; // another start was faster
    if (errorCode(error) === 'EBUSY' || errorCode(error) === 'EXDEV') {
      throw new Error(`data folder ${dir} is a mount point: choose a folder inside it`);
    }
    throw cannotWrite(dirname(dir), error);
  }
  if (process.platform === 'win32') return;
  const parent = await open(dirname(dir), 'r');
  await parent.sync().finally(() => parent.close());
}

function cannotWrite(folder: string, error: unknown): Error {
  const user = process.getuid === undefined ? 'this user' : `user id ${process.getuid()}`;
  return new Error(
    `cannot write to ${folder} (${errorText(error)}): make it a folder that ${user} can write, ` +
      'choose another one, or set DATABASE_URL',
    { cause: error },
  );
}
