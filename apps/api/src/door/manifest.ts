import { ERROR_CODES } from '@rowcall/errors';
import type { DoorContext } from '../context.js';
import { staleness } from './contract.js';
import { countCategories } from './map.js';

/** Categories that the manifest names. */
const CATEGORIES_MAX = 50;

/** What is in the catalogue, for those who may know. */
function readContents(context: DoorContext) {
  return {
    counts: context.catalogue.counts,
    categories: countCategories(context).slice(0, CATEGORIES_MAX),
    lanes: context.lanes.live,
  };
}

/**
 * What an agent that has never seen the server reads first: the four steps, and what is the same for every row.
 * @param seesRows whether the caller may know what rows there are.
 */
export function readManifest(context: DoorContext, seesRows: boolean) {
  const door = `${context.baseUrl()}/api/dispatch`;
  return {
    name: 'rowcall',
    what: 'A directory of capabilities. Ask for one in plain language, read its contract, invoke it, confirm the receipt.',
    steps: {
      ask: `GET ${door}?ask=what+time+is+it`,
      read: `GET ${door}?key=NOW`,
      invoke: `POST ${door} {"key":"NOW","body":""}`,
      confirm: `GET ${door}?confirm=inv_…`,
    },
    asking:
      'Describe the capability wanted (verb, object, system), as in "create an issue in GitHub", rather than the whole task. best: null says that nothing fits; steps that several rows are needed. category, type and effect narrow it.',
    auth: 'Authorization: Bearer <owner key or token of a grant>; a token also as x-share, ?share= or share in the body. ask, key, map, registry and confirm need none on this server unless they answer 401.',
    arguments:
      'body is one string split on "|" ($1 is the first piece); a body that is one JSON document is one argument. args is an object of named arguments. Send one of the two.',
    answer:
      '{ok, ran, trace, result, upstream?, error?, proof, cost, links}. ok: the run did not fail. proof.ok: it also produced material output. 200 when the row ran; otherwise a problem (RFC 9457) with error, fix and receipt.',
    actions: ['ask', 'key', 'map', 'registry', 'schema', 'confirm', 'receipt', 'explain', 'invoke'],
    errors: Object.fromEntries(Object.entries(ERROR_CODES).map(([code, { status, fix }]) => [code, { status, fix }])),
    ...(seesRows ? readContents(context) : {}),
    links: { openapi: `${context.baseUrl()}/openapi.json`, docs: `${context.baseUrl()}/docs`, map: `${door}?map=1` },
    ...staleness(context),
  };
}

/** The manifest for a reader of Markdown. */
export function manifestToMarkdown(context: DoorContext, seesRows: boolean): string {
  const {
    what,
    steps,
    asking,
    auth,
    arguments: args,
    answer,
    counts,
    categories = [],
  } = readManifest(context, seesRows);
  return [
    '# Rowcall',
    what,
    '## Four steps',
    ...Object.entries(steps).map(([step, call]) => `- ${step}: \`${call}\``),
    asking,
    '## The same for every row',
    `- ${auth}`,
    `- ${args}`,
    `- ${answer}`,
    ...(counts === undefined ? [] : [`## Catalogue: ${counts.registry} rows`]),
    ...categories.map(({ category, rows }) => `- ${category.replace(/[\r\n`*_#<>[\]]/g, ' ') || '(none)'}: ${rows}`),
    '',
  ].join('\n');
}
