// An API process for tests that kill it. With the argument "hold", a call that was opened never fires. Runs what was built.
import { buildKeyCheck, readServerConfig, runMain } from '@rowcall/process';
import { pino } from 'pino';
import { buildApp } from '../../dist/app.js';
import { buildContext } from '../../dist/context.js';

await runMain(async () => {
  const config = readServerConfig();
  const log = pino({ level: 'warn' });
  const isHeld = process.argv.includes('hold');
  const context = buildContext(config, {
    log,
    isOwnerKey: buildKeyCheck(config.ownerKey ?? ''),
    readCredential: () => undefined,
    version: '0.0.0-test',
    baseUrl: () => 'http://127.0.0.1:8787',
    ...(isHeld ? { beforeFire: () => new Promise(() => undefined) } : {}),
  });
  const app = await buildApp(context, { log, version: '0.0.0-test' });
  await context.start();
  process.send?.({ url: await app.listen({ host: '127.0.0.1', port: 0 }) });
});
