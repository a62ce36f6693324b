import { type Entry, toSummary } from '@rowcall/catalogue';
import { AppError } from '@rowcall/errors';
import { covers, mayRead } from '@rowcall/grants';
import { isJsonObject, type JsonObject, type RowPatch, rowPatchSchema } from '@rowcall/protocol';
import { isDatabaseAway } from '@rowcall/store';
import { z } from 'zod';
import type { Directory } from '../directory/directory.js';
import { checkRow, parseRowJson, toRow } from '../directory/parse-row.js';
import { callOf } from './call.js';
import { integer, text } from './input.js';
import { defineFunction, type FunctionContext, type FunctionDefinition } from './registry.js';

/** Rows that a search gives. */
const FOUND_MAX = 50;
const FOUND_DEFAULT = 12;

const key = z.string().max(128);
const notGiven = z.literal('').transform(() => undefined);
/** Version that the row must have. */
const version = z.union([notGiven, integer.pipe(z.int().min(1))]).optional();
const limit = z.union([notGiven, integer.pipe(z.int().min(1).max(FOUND_MAX))]).optional();
/** A JSON object, or its text. What is in it is checked as the REST addresses check it, and refused in the same words. */
const columns = z.union([z.string().max(4_194_304), z.custom<JsonObject>(isJsonObject)], 'must be a JSON object');

/**
 * Reads columns. An object may have been text in the body of a call, which no body parser has looked into, so it is
 * read as text once more. @throws AppError invalid_json, invalid_row
 */
function readColumns(given: string | JsonObject): JsonObject {
  const value = parseRowJson(typeof given === 'string' ? given : JSON.stringify(given));
  if (!isJsonObject(value)) throw new AppError('invalid_row', 'a row is a JSON object');
  return value;
}

const toAuthor = ({ actor, reason }: FunctionContext) => ({ actor, reason: reason ?? undefined });

/** The rows that the caller may know of, as everywhere else. */
const toShown = (context: FunctionContext): ((entry: Entry) => boolean) => {
  const { chain } = callOf(context).caller;
  return (entry) => covers(chain, entry);
};

/** Prompts and targets are for who may read whole rows at the other addresses. */
const toReadable = (entry: Entry, context: FunctionContext) =>
  mayRead(callOf(context).caller.chain) ? entry.toRow() : toSummary(entry);

/** @throws AppError database_unavailable for a database that is out of reach. */
async function change<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isDatabaseAway(error)) throw error;
    throw new AppError('database_unavailable', 'the database is out of reach', { cause: error });
  }
}

/** What DIR_PATCH is given beside columns. */
const patchSchema = z.looseObject({ key, if_match: version });

function readPatch(given: string | JsonObject) {
  const { key: changed, if_match: ifVersion, ...rest } = checkRow(patchSchema, readColumns(given));
  return { key: changed, ifVersion, patch: checkRow(rowPatchSchema, rest) as RowPatch };
}

/**
 * The directory's verbs as functions, so that a caller of the door reaches them as rows. Whoever may call such a row may
 * do what it does; the change carries the caller's name and reason. What reads shows the holder of a grant what the grant
 * covers, without the parts that call for reading.
 */
export function buildDirectoryFunctions(directory: Directory): readonly FunctionDefinition[] {
  return [
    defineFunction({
      name: 'DIR_GET',
      what: 'A whole row of the directory by its key.',
      effect: 'read',
      input: z.tuple([key]),
      run: ([wanted], context) => toReadable(directory.get(wanted, toShown(context)), context),
    }),
    defineFunction({
      name: 'DIR_SEARCH',
      what: 'Rows that fit a question, best first.',
      effect: 'read',
      input: z.tuple([text, limit]),
      run: ([question, count = FOUND_DEFAULT], context) =>
        directory.search(question, count, toShown(context)).map(({ entry, score }) => ({ ...toSummary(entry), score })),
    }),
    defineFunction({
      name: 'DIR_ADD',
      what: 'Adds a row to the directory.',
      effect: 'write',
      input: z.tuple([columns]),
      run: ([row], context) => change(() => directory.add(toRow(readColumns(row)), toAuthor(context))),
    }),
    defineFunction({
      name: 'DIR_PATCH',
      what: 'Changes columns of a row: key, optionally if_match (its version), and the columns.',
      effect: 'write',
      input: z.tuple([columns]),
      run([given], context) {
        const { key: changed, patch, ifVersion } = readPatch(given);
        return change(() => directory.patch(changed, patch, { ...toAuthor(context), ifVersion }));
      },
    }),
    defineFunction({
      name: 'DIR_DELETE',
      what: 'Deletes a row; its history and receipts stay.',
      effect: 'destructive',
      input: z.tuple([key, version]),
      async run([removed, ifVersion], context) {
        const author = { ...toAuthor(context), ifVersion };
        return { key: removed, deleted: true, version: await change(() => directory.remove(removed, author)) };
      },
    }),
  ];
}
