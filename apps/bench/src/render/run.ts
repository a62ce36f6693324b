import { watchOthersThan } from '../others.js';
import { conclude, describeMachine, say } from '../report.js';
import { rotate } from '../rounds.js';
import { toNumber } from '../table.js';
import { ENGINES } from './engines.js';
import { isSameMeaning } from './meaning.js';
import { makeCalls, measureRender, type RenderMeasurement } from './measure.js';
import { parseRenderOptions, type RenderOptions } from './options.js';
import { SHAPES } from './shapes.js';
import { renderToText, toRenderCells } from './summary.js';

/** @throws Error when an engine renders a request that means something else than ours. */
function verify(): number {
  let verified = 0;
  for (const shape of SHAPES) {
    const calls = makeCalls(shape);
    const [ours, ...others] = ENGINES.map((engine) => ({ engine, render: engine.compile(shape, calls) }));
    for (const { engine, render } of others) {
      for (const index of calls.keys()) {
        const [own, other] = [ours?.render(index) ?? '', render(index)];
        if (!isSameMeaning(own, other))
          throw new Error(`${shape.name}: ${engine.name} renders ${JSON.stringify(other)}, not ${JSON.stringify(own)}`);
        verified += 1;
      }
    }
  }
  return verified;
}

/** Measures every engine in turns. Rounds outermost; round 0 warms up and is not counted. */
function measureAll({ rounds, durationMs }: RenderOptions): RenderMeasurement[] {
  const all: RenderMeasurement[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    for (const shape of SHAPES) {
      for (const engine of rotate(ENGINES, Math.max(1, round))) {
        all.push(measureRender(engine, shape, round, durationMs));
      }
    }
    process.stderr.write(round === 0 ? 'warmed up\n' : `round ${round} of ${rounds} done\n`);
  }
  return all.filter(({ round }) => round > 0);
}

/** `bench render`: how fast templates are filled beside two common engines that hold no structure. */
export async function runRender(args: readonly string[]): Promise<number> {
  const options = parseRenderOptions(args);
  const machine = describeMachine({});
  say(`verified: ${verify()} requests of the others mean what ours mean\n`);
  const othersSince = watchOthersThan([process.pid]);
  const rounds = measureAll(options);
  const othersCores = othersSince();
  const cells = toRenderCells(rounds);
  say(renderToText(cells));
  say(`\nother processes took ${toNumber(othersCores)} of ${machine.cores} cores meanwhile`);
  const { jsonFile, check } = options;
  const figures = { bench: 'render', machine, othersCores, cells, rounds };
  return conclude({ goals: [], figures, jsonFile, check });
}
