import {
  buildKeyCheck,
  loadOwnerKey,
  onStop,
  readCredential,
  readServerConfig,
  runMain,
  type ServerConfig,
} from '@rowcall/process';
import { migrate } from '@rowcall/store';
import { pino } from 'pino';
import { buildApp } from './app.js';
import { buildContext } from './context.js';
import { noteNextKey } from './next-key.js';
import { addSeeds } from './seed.js';
import { stopServing } from './stop-serving.js';
import { VERSION } from './version.js';

/** How long, in ms, calls under way get to finish at a stop. */
const GRACE_MS = 10_000;

async function main(config: ServerConfig): Promise<void> {
  const log = pino({ name: 'rowcall-api', level: config.logLevel });
  const ownerKey = loadOwnerKey(config.ownerKey, config.dataDir);
  const isOwnerKey = buildKeyCheck(ownerKey, config.ownerKeyNext);
  let url = config.publicUrl ?? '';
  const options = { log, isOwnerKey, readCredential, version: VERSION, baseUrl: () => url };
  const context = buildContext({ ...config, ownerKey }, options);
  const app = await buildApp(context, { log, version: VERSION });
  const stop = onStop(log, () => stopServing(app, context, GRACE_MS));
  try {
    const migrations = await migrate(context.store);
    const seeds = await addSeeds(context);
    await noteNextKey(context, log, config);
    await context.start();
    const address = await app.listen({ host: config.host, port: config.port });
    if (url === '') url = address;
    if (config.allowNets === undefined) {
      log.warn(
        {},
        'rows may reach this machine (loopback): the quick-start default; set ROWCALL_ALLOW_NETS to change it',
      );
    }
    log.info({ address, url, migrations, seeds, rows: context.catalogue.counts.rows }, 'ready');
    process.send?.({ ready: true, url, address });
  } catch (error) {
    log.fatal({ err: error }, 'cannot start');
    await stop(1);
  }
}

await runMain(() => main(readServerConfig()));
