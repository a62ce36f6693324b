import path from 'node:path';
import type { Config } from '@rowcall/config';
import {
  copyEnvironment,
  loadOwnerKey,
  makeDataDir,
  OWNER_KEY_FILE,
  onStopSignal,
  provideSecretKey,
  readConfig,
} from '@rowcall/process';
import { takeDataLock } from './data-lock.js';
import { FIRST_QUESTION, makeFirstReceipt } from './first-receipt.js';
import { Server, type ServerAddress } from './server.js';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Starts a whole server on this machine, makes a first receipt, and keeps it running until a signal. */
export async function start(): Promise<void> {
  outliveOutput();
  const config = readConfig();
  const dataDir = path.resolve(config.dataDir);
  makeDataDir(dataDir);
  try {
    await serve(config, dataDir);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
  process.exit();
}

/** Whoever read the output may be gone, as a closed terminal is: that must not end the server out of order. */
function outliveOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

/** Resolves when a signal stopped the server. @throws Error when it could not be started or kept running. */
async function serve(config: Config, dataDir: string): Promise<void> {
  const lock = await takeDataLock(dataDir);
  // A key goes with its database: one made here would undo the tokens that others keep in a database they share.
  const keys = config.databaseUrl === undefined ? provideSecretKey(config.secretKey, dataDir) : {};
  const env = { ...copyEnvironment(), ...keys };
  const server = new Server({ dataDir, config, env, lock, say });
  const signal = untilSignal(server);
  try {
    const address = await Promise.race([server.start(), server.failed, signal]);
    if (address === undefined) return;
    await Promise.race([announce(config, dataDir, address), server.failed, signal]);
    await Promise.race([server.failed, signal]);
  } finally {
    await server.stop();
    lock.release();
  }
}

async function announce(config: Config, dataDir: string, { url, local }: ServerAddress): Promise<void> {
  say(`rowcall is at ${url}`);
  const ownerKey = loadOwnerKey(config.ownerKey, dataDir);
  say(
    `owner key: ${config.ownerKey === undefined ? path.join(dataDir, OWNER_KEY_FILE) : 'as set by ROWCALL_OWNER_KEY'}`,
  );
  say(`logs: ${path.join(dataDir, 'api.log')}, ${path.join(dataDir, 'runner.log')}`);
  try {
    const first = await makeFirstReceipt(local, ownerKey);
    say(`first receipt: ${first.status}`);
    say(`  asked "${FIRST_QUESTION}", ran ${first.key}: ${JSON.stringify(first.result)}`);
    say(`  ${first.publicReceipt}`);
  } catch (error) {
    // The rows are the owner's: one who changed NOW has a server all the same.
    say(`no first receipt: ${(error as Error).message}`);
  }
  say('Ctrl-C stops everything');
}

/** Resolves at the first signal. Each later one ends the processes at once. */
function untilSignal(server: Server): Promise<undefined> {
  return new Promise((resolve) => {
    onStopSignal({
      onFirst: () => {
        say('stopping …');
        resolve(undefined);
      },
      onFurther: () => server.kill(),
    });
  });
}
