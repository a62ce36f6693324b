import { describe, expect, it } from 'vitest';
import { cpuOfTree, parsePeak, parsePs, parseResident, parseStat, readProcesses } from './process-table.js';

const STAT = '4242 (node (worker) 1) S 17 4242 4242 0 -1 4194304 90 0 0 0 150 25 7 3 20 0 11 0 1 1 1';

describe('process table', () => {
  it('reads CPU time and parent behind a name that holds brackets and spaces', () => {
    expect(parseStat(STAT)).toEqual({ pid: 4242, parentPid: 17, cpuMs: 1_850 });
  });

  it('reads resident memory in 10^6 bytes, none for a kernel thread', () => {
    expect(parseResident('VmPeak:\t 9 kB\nVmRSS:\t  250000 kB\n')).toBe(256);
    expect(parseResident('Name:\tkthreadd\n')).toBe(0);
  });

  it('reads the most that was resident, which is not known of a kernel thread', () => {
    expect(parsePeak('VmHWM:\t  250000 kB\nVmRSS:\t 9 kB\n')).toBe(256);
    expect(parsePeak('Name:\tkthreadd\n')).toBeNaN();
  });

  it('reads every form of time that ps writes', () => {
    const times = ['0:01.25', '02:03', '1:02:03', '2-01:00:00'];
    expect(times.map((time) => parsePs(` 7 1 1000 ${time}`).cpuMs)).toEqual([1_250, 123_000, 3_723_000, 176_400_000]);
    expect(parsePs(' 7 1 1000 0:01')).toMatchObject({ pid: 7, parentPid: 1, residentMb: 1.024 });
  });

  it('sums the CPU time of processes, their children and theirs, each once, and of no others', () => {
    const use = (pid: number, parentPid: number, cpuMs: number) => ({ pid, parentPid, cpuMs, residentMb: 0 });
    const processes = [use(5, 4, 100), use(4, 2, 10), use(2, 1, 1), use(3, 1, 1_000)];
    expect(cpuOfTree(processes, [2])).toBe(111);
    expect(cpuOfTree(processes, [2, 4, 3])).toBe(1_111);
    expect(cpuOfTree(processes, [9])).toBeUndefined();
    expect(cpuOfTree(undefined, [2])).toBeUndefined();
  });

  it.skipIf(process.platform === 'win32')('finds this very process, with memory and CPU time', () => {
    const own = readProcesses()?.find(({ pid }) => pid === process.pid);
    expect(own?.parentPid).toBe(process.ppid);
    expect(own?.residentMb).toBeGreaterThan(10);
    expect(own?.cpuMs).toBeGreaterThan(0);
  });
});
