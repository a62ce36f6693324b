import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { copyEnvironment } from './environment.js';
import { toServerNodeOptions } from './node-options.js';

const SCRIPT = 'console.log(Math.round(require("node:v8").getHeapStatistics().heap_size_limit / 2 ** 20))';

/** The heap, in MiB, that Node grants a process with such options: the old objects' part and some for young ones. */
const heapOf = (options: string): number =>
  Number(execFileSync(process.execPath, ['-e', SCRIPT], { env: { ...copyEnvironment(), NODE_OPTIONS: options } }));

describe('options of Node', () => {
  it('bound the heap of a server', () => {
    const heap = heapOf(toServerNodeOptions(undefined, 2 ** 34));
    expect(heap).toBeGreaterThanOrEqual(2_000);
    expect(heap).toBeLessThan(2_200);
  });

  it('leave half of a small machine to others', () => {
    expect(toServerNodeOptions(undefined, 2 ** 30)).toContain('--max-old-space-size=512');
    expect(toServerNodeOptions(undefined)).toMatch(/--max-old-space-size=\d{3,4} /);
  });

  it('let the operator have the last word', () => {
    expect(heapOf(toServerNodeOptions('--max-old-space-size=300'))).toBeLessThan(500);
  });
});
