// What `npm start` and `npm test` run on a machine with nothing but Node: installs, builds, then does the work.
// Plain JavaScript without dependencies, since it runs before there are any.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

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
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: ['ignore', 2, 2], shell });
  if (error) fail(`${what}: ${error.message}`);
  if (status !== 0) fail(`${what}: failed`);
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

function newestSource() {
  let newest = 0;
  for (const group of ['apps', 'packages']) {
    for (const member of readdirSync(at(group))) {
      const source = at(group, member, 'src');
      if (!existsSync(source)) continue;
      for (const file of readdirSync(source, { recursive: true })) {
        newest = Math.max(newest, statSync(path.join(source, file)).mtimeMs);
      }
    }
  }
  return newest;
}

function isBuilt() {
  if (!existsSync(BUILD_STAMP) || !existsSync(at('apps/cli/dist/main.js'))) return false;
  return statSync(BUILD_STAMP).mtimeMs > newestSource();
}

function build() {
  if (isBuilt()) return;
  run('building', process.execPath, [at('node_modules/typescript/bin/tsc'), '-b']);
  mkdirSync(path.dirname(BUILD_STAMP), { recursive: true });
  writeFileSync(BUILD_STAMP, '');
}

function test(args) {
  const { status } = spawnSync(process.execPath, [at('node_modules/vitest/vitest.mjs'), 'run', ...args], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  process.exit(status ?? 1);
}

requireNode();
install();
build();
const [command, ...args] = process.argv.slice(2);
if (command === 'test') test(args);
else if (command !== 'build') await import(pathToFileURL(at('apps/cli/dist/main.js')).href);
