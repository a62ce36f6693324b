import { runMain } from '@rowcall/process';
import { start } from './start.js';

const COMMANDS: Readonly<Record<string, () => Promise<void>>> = { start };

const [name = ''] = process.argv.slice(2);
const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
if (command === undefined) {
  process.stderr.write(`usage: rowcall <command>\ncommands: ${Object.keys(COMMANDS).join(', ')}\n`);
  process.exitCode = 64; // EX_USAGE of sysexits.h
} else {
  await runMain(command);
}
