import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { toTable } from './table.js';

/** A CPU profile as V8 writes it; times are in µs. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly startTime: number;
  readonly endTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Time that was spent in one function or module itself, not in what it called. */
export interface SelfTime {
  readonly name: string;
  readonly selfMs: number;
}

const IDLE = new Set(['(idle)', '(root)']);
const TOP_FUNCTIONS = 30;
const TOP_MODULES = 18;

/** Reads the profile that was written last. @throws Error when there is none. */
export function newestProfile(dir: string): CpuProfile {
  // The names begin with date and time.
  const name = readdirSync(dir)
    .filter((file) => file.endsWith('.cpuprofile'))
    .sort()
    .at(-1);
  if (name === undefined) throw new Error(`no .cpuprofile in ${dir}`);
  return JSON.parse(readFileSync(path.join(dir, name), 'utf8')) as CpuProfile;
}

/** Name of a module: `packages/engine/engine.js` for ours, the package's name for others, `node:http` for Node's own. */
export function toModuleName(url: string): string {
  const own = /\/((?:apps|packages)\/[^/]+)\/(?:dist|src)\/(.+)$/.exec(url);
  if (own !== null) return `${own[1]}/${own[2]}`;
  const dependency = /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
  return dependency ?? (url === '' ? '(native)' : url);
}

/** Sums self times by a name that `nameOf` gives, the greatest first; idle time is left out. */
export function sumSelfTimes(
  profile: CpuProfile,
  since: number,
  nameOf: (frame: CpuProfile['nodes'][number]['callFrame']) => string,
): SelfTime[] {
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const sums = new Map<string, number>();
  let at = profile.startTime;
  for (const [index, id] of profile.samples.entries()) {
    const delta = profile.timeDeltas[index] ?? 0;
    at += delta;
    const frame = frames.get(id);
    if (at < since || frame === undefined || IDLE.has(frame.functionName)) continue;
    const name = nameOf(frame);
    sums.set(name, (sums.get(name) ?? 0) + delta / 1_000);
  }
  return [...sums].map(([name, selfMs]) => ({ name, selfMs })).sort((a, b) => b.selfMs - a.selfMs);
}

function toShares(times: readonly SelfTime[], top: number): string {
  const total = times.reduce((sum, { selfMs }) => sum + selfMs, 0);
  const rows = times
    .slice(0, top)
    .map(({ name, selfMs }) => [name, selfMs.toFixed(0), ((100 * selfMs) / total).toFixed(1)]);
  return toTable(['', 'self ms', '%'], rows);
}

/**
 * Sums a profile up: where the time went, by function and by module.
 * @param since reading of the monotonic clock in ns from which samples count; all do where V8 reads another clock.
 */
export function profileToText(profile: CpuProfile, since: bigint): string {
  const sinceUs = Number(since / 1_000n);
  const from = sinceUs > profile.startTime && sinceUs < profile.endTime ? sinceUs : profile.startTime;
  const functions = sumSelfTimes(profile, from, ({ functionName, url, lineNumber }) =>
    url === '' ? functionName || '(native)' : `${functionName || '(anonymous)'} ${toModuleName(url)}:${lineNumber + 1}`,
  );
  const modules = sumSelfTimes(profile, from, ({ functionName, url }) =>
    url === '' ? functionName || '(native)' : toModuleName(url),
  );
  return `API, self time by function\n${toShares(functions, TOP_FUNCTIONS)}\n\nby module\n${toShares(modules, TOP_MODULES)}`;
}
