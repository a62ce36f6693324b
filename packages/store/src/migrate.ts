import { readdir, readFile } from 'node:fs/promises';
import { type Migration, type MigrationResult, Migrator, sql } from 'kysely';
import type { Store } from './store.js';

/** Where the migrations are, seen from `src` and `dist` alike. */
const MIGRATIONS = new URL('../../../db/migrations/', import.meta.url);

async function readMigrations(folder: URL): Promise<Record<string, Migration>> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  const texts = await Promise.all(files.map((name) => readFile(new URL(name, folder), 'utf8')));
  return Object.fromEntries(
    files.map((name, index) => [
      name.replace(/\.sql$/, ''),
      {
        async up(db) {
          await sql.raw(texts[index] ?? '').execute(db);
        },
      } satisfies Migration,
    ]),
  );
}

/**
 * Brings the database to the newest schema, in one transaction under an advisory lock: any number of processes may
 * call it at once. Forward only.
 * @param folder where the migrations are, with a slash at its end; the product's own when not given.
 * @returns the names of the migrations that this call applied.
 */
export async function migrate(store: Pick<Store, 'db'>, folder = MIGRATIONS): Promise<string[]> {
  const migrator = new Migrator({
    db: store.db,
    provider: { getMigrations: () => readMigrations(folder) },
    migrationTableName: 'schema_migration',
    migrationLockTableName: 'schema_migration_lock',
  });
  const { error, results } = await migrator.migrateToLatest();
  if (error !== undefined) throw new Error(`migration failed: ${failedName(results)}`, { cause: error });
  return (results ?? []).filter((result) => result.status === 'Success').map((result) => result.migrationName);
}

function failedName(results: MigrationResult[] | undefined): string {
  return results?.find((result) => result.status === 'Error')?.migrationName ?? 'the schema could not be read';
}
