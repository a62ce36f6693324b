import type { HttpRequestParts } from '@rowcall/substitution';
import type { Engine, EngineName } from './engines.js';
import type { Shape } from './shapes.js';

/** One engine with one shape, once. */
export interface RenderMeasurement {
  readonly engine: EngineName;
  readonly shape: string;
  readonly round: number;
  readonly templatesPerSecond: number;
  /** To parse a template and render it for the first time: handlebars compiles only then. In µs. */
  readonly parseUs: number;
}

/** Calls with different arguments, so that none is known in advance. */
const CALLS = 64;
/** Renderings between two looks at the clock. */
const BATCH = CALLS;
/** Of the time of a measurement, parsing has this share. */
const PARSE_SHARE = 0.25;

/** Arguments of the calls that are measured. */
export const makeCalls = (shape: Shape) => Array.from({ length: CALLS }, (_, index) => shape.toArguments(index));

/** V8 puts text together only when a character is read; a request that is sent has to be whole. */
const finish = (text: string): number => text.charCodeAt(text.length - 1);

function finishAll(rendered: string | HttpRequestParts): void {
  if (typeof rendered === 'string') {
    finish(rendered);
    return;
  }
  finish(rendered.url);
  for (const [, value] of rendered.headers) finish(value);
  if (rendered.body !== null) finish(rendered.body.text);
}

/** Does `work` again and again. @returns how often in a second. */
function repeat(durationMs: number, work: (index: number) => void): number {
  const startedAt = performance.now();
  const endsAt = startedAt + durationMs;
  let done = 0;
  let now = startedAt;
  while (now < endsAt) {
    for (let index = 0; index < BATCH; index += 1) work(index);
    done += BATCH;
    now = performance.now();
  }
  return (done * 1_000) / (now - startedAt);
}

/** Measures how fast an engine renders a shape, and how long it takes to parse it. */
export function measureRender(engine: Engine, shape: Shape, round: number, durationMs: number): RenderMeasurement {
  const calls = makeCalls(shape);
  const firstCall = calls.slice(0, 1);
  const parsesPerSecond = repeat(durationMs * PARSE_SHARE, () => finishAll(engine.compile(shape, firstCall)(0)));
  const render = engine.compile(shape, calls);
  const templatesPerSecond = repeat(durationMs, (index) => finishAll(render(index)));
  return { engine: engine.name, shape: shape.name, round, templatesPerSecond, parseUs: 1e6 / parsesPerSecond };
}
