import { describe, expect, it } from 'vitest';
import { type CpuProfile, profileToText, sumSelfTimes, toModuleName } from './profile.js';

const frame = (functionName: string, url = '') => ({ functionName, url, lineNumber: 9 });
const profile: CpuProfile = {
  nodes: [
    { id: 1, callFrame: frame('(idle)') },
    { id: 2, callFrame: frame('run', 'file:///x/packages/engine/dist/run.js') },
    { id: 3, callFrame: frame('parse', 'file:///x/node_modules/.pnpm/zod@4/node_modules/zod/v4/parse.js') },
  ],
  startTime: 1_000_000,
  endTime: 1_010_000,
  samples: [2, 1, 3, 2],
  timeDeltas: [1_000, 5_000, 3_000, 1_000],
};

describe('the summary of a CPU profile', () => {
  it('sums the time of each function, the greatest first, without what was idle', () => {
    expect(sumSelfTimes(profile, 0, ({ functionName }) => functionName)).toEqual([
      { name: 'parse', selfMs: 3 },
      { name: 'run', selfMs: 2 },
    ]);
  });

  it('leaves out what was before the load began', () => {
    expect(profileToText(profile, 1_002_000_000n)).toMatch(
      /parse zod:10 +3 +75\.0\nrun packages\/engine\/run\.js:10 +1/,
    );
    expect(profileToText(profile, 7n)).toMatch(/run packages\/engine\/run\.js:10 +2/);
  });

  it.each([
    ['file:///x/apps/api/dist/door/post.js', 'apps/api/door/post.js'],
    ['file:///x/node_modules/.pnpm/pg@8/node_modules/pg/lib/client.js', 'pg'],
    ['/x/node_modules/@fastify/swagger/index.js', '@fastify/swagger'],
    ['node:_http_server', 'node:_http_server'],
    ['', '(native)'],
  ])('names the module of %s', (url, name) => {
    expect(toModuleName(url)).toBe(name);
  });
});
