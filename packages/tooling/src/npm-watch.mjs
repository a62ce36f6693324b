// npm runs a script through a shell, and neither passes everything on: at SIGTERM the shell just ends, and when npm is
// killed nothing tells the script. What runs below must end with them all the same.
import { readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 250;
const SHELLS = new Set(['sh', 'dash', 'bash', 'ash', 'busybox', 'ksh', 'zsh']);

/** Name and parent of a process, of proc(5); undefined where the platform does not tell. */
function lookUp(pid) {
  try {
    const [, name, parent] = /^\d+ \((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    return { name, parent: Number(parent) };
  } catch {
    return undefined;
  }
}

/** The processes between this one and npm, npm included: the parent, and what started that when it is npm's shell. */
function findLaunchers() {
  const parent = lookUp(process.ppid);
  return [process.ppid, ...(parent !== undefined && SHELLS.has(parent.name) ? [parent.parent] : [])].join(' ');
}

/**
 * Sends this process SIGTERM once npm, or its shell, has ended. Does nothing when npm did not start it.
 * @returns looks at once.
 */
export function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return () => undefined;
  const launchers = findLaunchers();
  const look = () => {
    if (findLaunchers() === launchers) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  return look;
}
