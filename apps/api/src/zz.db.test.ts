import { writeFile } from 'node:fs/promises';
import { it } from 'vitest';
import { buildDocument } from './build-document.js';
import { VERSION } from './version.js';

it('w', async () => {
  await writeFile(
    new URL('../openapi.json', import.meta.url),
    `${JSON.stringify(await buildDocument(VERSION), null, 2)}\n`,
  );
});
