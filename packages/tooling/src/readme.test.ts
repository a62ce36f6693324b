import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ERROR_CODES } from '@rowcall/errors';
import { expect, it } from 'vitest';

const readme = readFileSync(path.resolve(import.meta.dirname, '../../../README.md'), 'utf8');

it('the README lists every failure code with its status and what to do next', () => {
  const rows = Object.entries(ERROR_CODES).map(
    ([code, { status, title, fix }]) => `| \`${code}\` | ${status} | ${title} | ${fix} |`,
  );
  const table = ['| code | status | means | next |', '|---|---|---|---|', ...rows].join('\n');
  const [, printed = ''] = /<!-- failures -->\n([\s\S]*?)\n<!-- \/failures -->/.exec(readme) ?? [];
  expect(printed).toBe(table);
});
