import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Binaries } from './binaries.js';
import { type CommandUser, runCommand } from './run-command.js';

/** Under whom Postgres runs. It refuses user id 0, so root needs another one. */
export interface Identity {
  /** `self`: the caller; `user`: another user id; `namespace`: root outside, user 1000 inside a user namespace. */
  readonly kind: 'self' | 'user' | 'namespace';
  readonly uid?: number;
  readonly gid?: number;
  /** Command words in front of every program. */
  readonly prefix: readonly string[];
}

const SELF: Identity = { kind: 'self', prefix: [] };
const NAMESPACE: Identity = {
  kind: 'namespace',
  uid: 0,
  gid: 0,
  prefix: ['unshare', '--user', '--map-user=1000', '--map-group=1000', '--'],
};

/** Chooses who will own a cluster that is yet to be made in `dir`, whose parent folder exists. Throws what to do. */
export async function chooseIdentity(dir: string, binaries: Binaries): Promise<Identity> {
  if (process.getuid?.() !== 0) return SELF;
  const nobody = await findNobody();
  const reasons: string[] = [];
  for (const candidate of nobody === undefined ? [NAMESPACE] : [nobody, NAMESPACE]) {
    const hindrance = await findHindrance(candidate, dirname(dir), binaries);
    if (hindrance === undefined) return candidate;
    reasons.push(`${toLabel(candidate)}: ${hindrance}`);
  }
  throw cannotRun(dir, reasons);
}

/** Who must run the cluster that is in `dir`: the owner of the folder. Throws what to do where that cannot be. */
export async function getClusterIdentity(dir: string, binaries: Binaries): Promise<Identity> {
  const self = process.getuid?.();
  if (self === undefined) return SELF;
  const owner = await stat(dir);
  if (self !== 0) {
    if (owner.uid === self) return SELF;
    throw new Error(
      `data folder ${dir} belongs to user id ${owner.uid}, this process runs as ${self}: ` +
        'run it as that user, choose another folder, or set DATABASE_URL',
    );
  }
  const identity = owner.uid === 0 ? NAMESPACE : toUser(owner.uid, owner.gid);
  const hindrance = await findHindrance(identity, dir, binaries);
  if (hindrance === undefined) return identity;
  throw cannotRun(dir, [`${toLabel(identity)}, who owns it: ${hindrance}`]);
}

/** The identity as Node's spawn takes it. */
export function toCommandUser({ uid, gid }: Identity): CommandUser {
  return uid === undefined || gid === undefined ? {} : { uid, gid };
}

function toUser(uid: number, gid: number): Identity {
  return { kind: 'user', uid, gid, prefix: [] };
}

async function findNobody(): Promise<Identity | undefined> {
  const { stdout } = await runCommand(['id', 'nobody']);
  const match = /^uid=(-?\d+)\S* gid=(-?\d+)/.exec(stdout);
  // macOS prints -2 as an unsigned number, Node takes a signed one.
  return match === null ? undefined : toUser(Number(match[1]) | 0, Number(match[2]) | 0);
}

/** Why the identity cannot enter the folder and run the server, or undefined if it can. */
async function findHindrance(identity: Identity, folder: string, binaries: Binaries): Promise<string | undefined> {
  const script = 'test -x "$1" || { echo "cannot enter $1" >&2; exit 1; }; exec "$2" --version';
  const words = [...identity.prefix, '/bin/sh', '-c', script, 'sh', folder, binaries.postgres];
  const [command = '/bin/sh', ...rest] = words;
  const { ok, stderr } = await runCommand([command, ...rest], toCommandUser(identity));
  return ok ? undefined : stderr.trim();
}

function toLabel(identity: Identity): string {
  return identity.kind === 'namespace' ? 'root in a user namespace' : `user id ${identity.uid}`;
}

function cannotRun(dir: string, reasons: readonly string[]): Error {
  return new Error(
    `Postgres refuses to run as root and nobody else can run it in ${dir} (${reasons.join('; ')}): start as a normal ` +
      'user, or let user nobody enter the folder and the checkout (chmod a+x), or set DATABASE_URL',
  );
}
