import { readFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from './error-text.js';
import { runCommand } from './run-command.js';

/** Whether the system knows a process with that id, whoever owns it; one that ended and was not yet collected counts. */
export function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** Whether a process with that id runs. A zombie does not: first processes of containers often collect none. */
export function isAlive(pid: number): boolean {
  return hasProcess(pid) && !isZombie(pid);
}

function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    return /\) Z [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Resolves once the process is gone; looks ten times a second and holds no program open. */
export async function waitUntilGone(pid: number): Promise<void> {
  while (isAlive(pid)) await sleep(100, undefined, { ref: false });
}

/**
 * Whether the process is certainly not the postmaster of `dir`: process ids are used again, so a stale `postmaster.pid`
 * may name a shell, or the server of another folder. In doubt false. A zombie is certainly none.
 */
export async function isForeignProcess(pid: number, dir: string): Promise<boolean> {
  if (isZombie(pid)) return true;
  const name = await findProgramName(pid);
  if (name !== undefined && !name.startsWith('postgres')) return true;
  if (process.platform !== 'linux') return false;
  // A postmaster works from within its data folder, under whatever path that was reached.
  const [work, data] = await Promise.all([findFolder(`/proc/${pid}/cwd`), findFolder(dir)]);
  return work !== undefined && data !== undefined && work !== data;
}

async function findFolder(path: string): Promise<string | undefined> {
  return await stat(path).then(
    ({ dev, ino }) => `${dev}:${ino}`,
    () => undefined,
  );
}

async function findProgramName(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => undefined);
    return name?.trim();
  }
  if (process.platform === 'win32') {
    const { ok, stdout } = await runCommand(['tasklist', '/FI', `PID eq ${pid}`, '/FO', 'CSV', '/NH']);
    return ok ? /^"([^"]+)"/m.exec(stdout)?.[1] : undefined;
  }
  const { ok, stdout } = await runCommand(['ps', '-p', String(pid), '-o', 'comm=']);
  return ok && stdout.trim() !== '' ? basename(stdout.trim()) : undefined;
}
