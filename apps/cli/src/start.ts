import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { copyEnvironment, loadOwnerKey, OWNER_KEY_FILE, readConfig } from '@rowcall/process';
import { makeFirstReceipt } from './first-receipt.js';
import { findRunning, Server } from './server.js';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Starts a whole server on this machine, makes a first receipt, and keeps it running until a signal. */
export async function start(): Promise<void> {
  const config = readConfig();
  const dataDir = path.resolve(config.dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const running = await findRunning(dataDir);
  if (running !== undefined) {
    say(`rowcall runs already on ${dataDir}: ${running}`);
    process.exitCode = 1;
    return;
  }
  const server = new Server({ dataDir, databaseUrl: config.databaseUrl, env: copyEnvironment(), say });
  const signal = stopAtSignal(server);
  try {
    const url = await server.start();
    const ownerKey = loadOwnerKey(config.ownerKey, dataDir);
    say(`rowcall is at ${url}`);
    say(`owner key: ${config.ownerKey === undefined ? path.join(dataDir, OWNER_KEY_FILE) : 'ROWCALL_OWNER_KEY'}`);
    say(`logs: ${path.join(dataDir, 'api.log')}, ${path.join(dataDir, 'runner.log')}`);
    const first = await makeFirstReceipt(url, ownerKey);
    say(`first receipt: ${first.status}`);
    say(`  asked "what time is it", ran NOW: ${JSON.stringify(first.result)}`);
    say(`  ${first.publicReceipt}`);
    say('Ctrl-C stops everything');
    await Promise.race([server.failed, signal]);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
  await server.stop();
  process.exit();
}

/** Resolves at the first signal. The second ends the processes at once. */
function stopAtSignal(server: Server): Promise<void> {
  let signals = 0;
  return new Promise((resolve) => {
    const onSignal = () => {
      signals += 1;
      if (signals === 1) say('stopping …');
      else server.kill();
      resolve();
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
    process.on('SIGHUP', onSignal);
  });
}
