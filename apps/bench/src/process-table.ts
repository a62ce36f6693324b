import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** What the operating system says of a process. */
export interface ProcessUse {
  readonly pid: number;
  readonly parentPid: number;
  /** User and system time in ms since its start, with that of its children that have ended and were waited for. */
  readonly cpuMs: number;
  /** Resident memory in MB (10^6 bytes). */
  readonly residentMb: number;
}

/** Linux counts CPU time in hundredths of a second whatever the kernel's own clock (USER_HZ). */
const MS_PER_TICK = 10;

/** Reads a line of `/proc/PID/stat` (proc(5)): the name is in brackets and may hold spaces and brackets. */
export function parseStat(line: string): Omit<ProcessUse, 'residentMb'> {
  const pid = Number.parseInt(line, 10);
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const at = (field: number) => Number(fields[field - 3]);
  const ticks = at(14) + at(15) + at(16) + at(17);
  return { pid, parentPid: at(4), cpuMs: ticks * MS_PER_TICK };
}

/** Reads resident memory from `/proc/PID/status`; a kernel thread has none. */
export function parseResident(status: string): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return (Number(kibibytes ?? 0) * 1024) / 1e6;
}

/** Reads the most that was ever resident from `/proc/PID/status`. */
export function parsePeak(status: string): number {
  const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
  return (Number(kibibytes ?? Number.NaN) * 1024) / 1e6;
}

/** Reads a line of `ps -o pid=,ppid=,rss=,time=`, where time is `[[days-]hours:]minutes:seconds[.hundredths]`. */
export function parsePs(line: string): ProcessUse {
  const [pid = '', parentPid = '', resident = '', time = ''] = line.trim().split(/\s+/);
  const [clock = '', days = '0'] = time.split('-').reverse();
  const seconds = clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return {
    pid: Number(pid),
    parentPid: Number(parentPid),
    cpuMs: (Number(days) * 86_400 + seconds) * 1_000,
    residentMb: (Number(resident) * 1024) / 1e6,
  };
}

function readProc(): ProcessUse[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      const use = parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
      return [{ ...use, residentMb: parseResident(readFileSync(`/proc/${pid}/status`, 'utf8')) }];
    } catch {
      return []; // it ended between the two
    }
  });
}

function readPs(): ProcessUse[] {
  const text = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,rss=,time='], { encoding: 'utf8' });
  return text.trim().split('\n').map(parsePs);
}

/** All processes of the machine. Undefined where neither `/proc` nor `ps` tells, as on Windows. */
export function readProcesses(): readonly ProcessUse[] | undefined {
  if (process.platform === 'win32') return undefined;
  return process.platform === 'linux' ? readProc() : readPs();
}

/** Resident memory of one process. Cheaper than {@link readProcesses}, to be asked often. Undefined where it cannot be told. */
export function readResidentMb(pid: number): number | undefined {
  if (process.platform !== 'linux') return readProcesses()?.find((one) => one.pid === pid)?.residentMb;
  return parseResident(readFileSync(`/proc/${pid}/status`, 'utf8'));
}

/** The most that was ever resident of a process, as the kernel keeps it. Undefined where it does not, as on macOS. */
export function readPeakMb(pid: number): number | undefined {
  return process.platform === 'linux' ? parsePeak(readFileSync(`/proc/${pid}/status`, 'utf8')) : undefined;
}

/** CPU time, in ms, of the processes `roots` and all below them, each counted once. Undefined when it cannot be told. */
export function cpuOfTree(processes: readonly ProcessUse[] | undefined, roots: readonly number[]): number | undefined {
  const tree = new Set(roots);
  let sizeBefore = 0;
  while (tree.size > sizeBefore) {
    sizeBefore = tree.size;
    for (const { pid, parentPid } of processes ?? []) if (tree.has(parentPid)) tree.add(pid);
  }
  const found = processes?.filter(({ pid }) => tree.has(pid));
  if (found === undefined || found.length === 0) return undefined;
  return found.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
}
