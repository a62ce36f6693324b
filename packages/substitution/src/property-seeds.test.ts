import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import kept from './testdata/property-seeds.json' with { type: 'json' };

const SOURCES = ['body', 'json', 'url']
  .map((name) => readFileSync(path.join(import.meta.dirname, `${name}.property.test.ts`), 'utf8'))
  .join('\n');

test.each(kept)('the seed $seed belongs to a test that there is: $test', ({ test: name }) => {
  for (const part of name.split(' > ')) expect(SOURCES).toContain(`('${part}'`);
});
