import { expect, it } from 'vitest';
import { Resolver } from './resolver.js';

const WORDS = 'get weather send mail create invoice convert image book flight list branches'.split(' ');
const QUESTION = 'get weather and send mail, create invoice; convert image; book flight; list branches';

it.each([6, 8])('lists the best row of every step among %d, the others make room', (limit) => {
  let state = 1;
  const draw = (values: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % values;
  };
  for (let round = 0; round < 30; round += 1) {
    const resolver = new Resolver();
    for (let row = 0; row < 60; row += 1) {
      const what = Array.from({ length: 2 + draw(4) }, () => WORDS[draw(WORDS.length)]).join(' ');
      resolver.upsert({
        ...{ key: `K${row}`, what, category: '', whenToUse: '', asks: '', argumentNames: '', argumentNotes: '' },
        ...{ examples: '', rank: 0, demoted: false, pinnedFor: [] },
      });
    }
    const { hits, steps } = resolver.search(QUESTION, { limit });
    const keys = hits.map(({ key }) => key);
    expect(keys).toHaveLength(limit);
    for (const step of steps) expect(keys).toContain(step.keys[0]);
  }
});
