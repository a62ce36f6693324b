import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * A mark of the process that has this id now: no later process with the same id has it, not even after a reboot
 * (where the platform tells; Windows does not). Undefined when no such process runs; one that ended and was not yet
 * collected does not.
 */
export function findProcessMark(pid: number): string | undefined {
  if (process.platform === 'linux') return readStartTicks(pid);
  if (!isThere(pid)) return undefined;
  if (process.platform === 'win32') return 'runs';
  const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() || undefined;
}

/** Start time in clock ticks since boot: field 22 of proc(5), counted after the name, which may hold anything. */
function readStartTicks(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${fields[19]}`;
  } catch {
    return undefined;
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
