// What `npm start` and `npm test` run on a machine with nothing but Node: installs, builds, then does the work.
// Plain JavaScript without dependencies, since it runs before there are any.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { endWithNpm } from './npm-watch.mjs';

const ROOT = path.resolve(fileURLToPath(import.meta.url), '../../../..');
const BUILD_STAMP = path.join(ROOT, 'node_modules/.cache/rowcall-build');
const MANIFEST = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
const NODE_MIN = [20, 18, 1];

const at = (...parts) => path.join(ROOT, ...parts);

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function requireNode() {
  const have = process.versions.node.split('.').map(Number);
  const older = NODE_MIN.map((part, index) => have[index] - part).find((difference) => difference !== 0) < 0;
  if (older) fail(`Node ${NODE_MIN.join('.')} or later is needed; this is ${process.versions.node}`);
}

function run(what, command, args) {
  process.stderr.write(`${what} …\n`);
  // npx is a .cmd file on Windows, which only a shell can start.
  const shell = process.platform === 'win32' && command === 'npx';
  // Without a terminal to ask, pnpm goes on only where it is told that nobody is there.
  const env = { ...process.env, CI: 'true' };
  const { status, signal, error } = spawnSync(command, args, { cwd: ROOT, stdio: ['ignore', 2, 2], env, shell });
  if (error) fail(`${what}: ${error.message}`);
  if (status !== 0) fail(`${what}: failed (${signal ?? `exit code ${status}`})`);
}

/** pnpm keeps a copy of what it installed: the lock file's last document. */
function isInstalled() {
  const installed = at('node_modules/.pnpm/lock.yaml');
  return existsSync(installed) && readFileSync(at('pnpm-lock.yaml'), 'utf8').endsWith(readFileSync(installed, 'utf8'));
}

function install() {
  if (isInstalled()) return;
  run('installing', 'npx', ['-y', MANIFEST.packageManager, 'install', '--frozen-lockfile']);
}

const isInput = (file) => /\.(ts|json)$/.test(file) && !file.endsWith('.test.ts');

/** Not readdir's own recursion, which takes ten times as long. */
function listInputs(folder) {
  return readdirSync(at(folder), { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) return listInputs(file);
    return isInput(entry.name) ? [file] : [];
  });
}

/** What the build is made of: files and the time, in ms, when one of them was last changed. */
function inspectInputs() {
  const files = ['tsconfig.json', 'packages/tooling/tsconfig.base.json'];
  const members = ['apps', 'packages'].flatMap((group) => readdirSync(at(group)).map((name) => path.join(group, name)));
  const built = members.filter((member) => existsSync(at(member, 'tsconfig.json')));
  for (const member of built) {
    files.push(path.join(member, 'tsconfig.json'), path.join(member, 'package.json'));
    files.push(...listInputs(path.join(member, 'src')));
  }
  const newest = Math.max(...files.map((file) => statSync(at(file)).mtimeMs));
  return { newest, files: files.sort().join('\n'), outputs: built.map((member) => at(member, 'dist')) };
}

/** The stamp names the inputs, so that one which is gone counts too, and is as old as the beginning of the build. */
function isBuilt({ newest, files, outputs }) {
  if (!existsSync(BUILD_STAMP) || !outputs.every((folder) => existsSync(folder))) return false;
  const [startedAt, ...names] = readFileSync(BUILD_STAMP, 'utf8').split('\n');
  return Number(startedAt) > newest && names.join('\n') === files;
}

function build() {
  const inputs = inspectInputs();
  if (isBuilt(inputs)) return;
  const startedAt = Date.now();
  run('building', process.execPath, [at('node_modules/typescript/bin/tsc'), '-b']);
  mkdirSync(path.dirname(BUILD_STAMP), { recursive: true });
  writeFileSync(BUILD_STAMP, `${startedAt}\n${inputs.files}`);
}

/** Goes on as another program, in this process: signals and the exit code need no passing on. */
async function become(program, args) {
  process.argv = [process.execPath, program, ...args];
  await import(pathToFileURL(program).href);
}

const COMMANDS = {
  build: () => undefined,
  test: (args) => {
    process.chdir(ROOT);
    return become(at('node_modules/vitest/vitest.mjs'), ['run', ...args]);
  },
  bench: (args) => become(at('apps/bench/dist/main.js'), args),
};

requireNode();
const checkNpm = endWithNpm();
install();
build();
checkNpm(); // no timer ran meanwhile
const [command = '', ...args] = process.argv.slice(2);
if (Object.hasOwn(COMMANDS, command)) await COMMANDS[command](args);
else await become(at('apps/cli/dist/main.js'), [command, ...args]);
