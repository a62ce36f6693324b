import type { Entry } from '@rowcall/catalogue';
import { parseAuth } from '@rowcall/contract';
import { parseJson } from '@rowcall/protocol';
import { findLastGoodRequest, isDatabaseAway, listLastErrors, listVersions, measureRow } from '@rowcall/store';
import type { DoorContext } from '../context.js';
import { contractOf, type Document, getShown, staleness } from './contract.js';

const DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1_000;
const RELATED_MAX = 5;
const VERSIONS_MAX = 10;
const ERRORS_MAX = 5;
/** Characters of a description that related rows are looked for with. */
const QUESTION_LENGTH_MAX = 300;

/** Keys of the rows that are nearest to one: of its category, or of all where it has none. */
function listRelated({ catalogue }: DoorContext, { row, doc }: Entry): string[] {
  const isNear = (key: string): boolean =>
    key !== row.key && (row.category === '' || catalogue.find(key)?.row.category === row.category);
  const question = (doc.what || row.key.replaceAll('_', ' ')).slice(0, QUESTION_LENGTH_MAX);
  return catalogue.search(question, { limit: RELATED_MAX, filter: isNear }).hits.map(({ key }) => key);
}

function listMissing(context: DoorContext, { row }: Entry): readonly string[] {
  return row.type === 'http' ? context.missingCredentials(parseAuth(row.auth)) : [];
}

const round = (value: number | null): number | null => (value === null ? null : Math.round(value * 1_000) / 1_000);

/** What only the database knows. Who changed a row and what was sent to it are for the owner alone. */
async function readRecords({ store: { db } }: DoorContext, key: string, forOwner: boolean) {
  const since = Date.now() - DAYS * DAY_MS;
  const [errors, versions, measured, request] = await Promise.all([
    listLastErrors(db, key, { sinceMs: since, limit: ERRORS_MAX }),
    listVersions(db, key, VERSIONS_MAX),
    measureRow(db, key, since),
    forOwner ? findLastGoodRequest(db, key) : undefined,
  ]);
  return {
    errors,
    history: versions.map(({ version, at, deleted, actor }) => ({
      version,
      at,
      ...(deleted ? { deleted } : {}),
      ...(forOwner ? { actor } : {}),
    })),
    measured: {
      days: DAYS,
      calls: measured.calls,
      success_rate: round(measured.success_rate),
      p50_ms: round(measured.p50_ms),
      p99_ms: round(measured.p99_ms),
      ...(forOwner ? { last_good_example: request === undefined ? null : parseJson(request) } : {}),
    },
  };
}

async function tryRecords(context: DoorContext, key: string, forOwner: boolean) {
  try {
    return context.catalogue.staleSince === undefined ? await readRecords(context, key, forOwner) : undefined;
  } catch (error) {
    if (!isDatabaseAway(error)) throw error;
    return undefined;
  }
}

/**
 * One row's contract with what helps where it does not suffice: what is missing and what failed, rows that are near,
 * history and measurements. While the database is away what it alone knows is left out, and `stale` says so.
 * @throws AppError unknown_key.
 */
export async function readFullContract(context: DoorContext, key: string, forOwner: boolean): Promise<Document> {
  const entry = getShown(context, key);
  const records = await tryRecords(context, key, forOwner);
  const { errors, ...told } = records ?? {};
  const document = {
    ...contractOf(context, entry),
    troubleshooting: {
      missing_credentials: listMissing(context, entry),
      ...(errors === undefined ? {} : { last_errors: errors }),
    },
    related: listRelated(context, entry),
    ...told,
    ...(records === undefined ? { stale: true } : {}),
    ...staleness(context),
  };
  return { contentType: 'application/json; charset=utf-8', text: JSON.stringify(document) };
}
