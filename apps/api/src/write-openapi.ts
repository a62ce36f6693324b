import { writeFile } from 'node:fs/promises';
import { buildDocument } from './build-document.js';
import { VERSION } from './version.js';

/** Writes the OpenAPI document beside the package's manifest, where it is committed. */
await writeFile(
  new URL('../openapi.json', import.meta.url),
  `${JSON.stringify(await buildDocument(VERSION), null, 2)}\n`,
);
