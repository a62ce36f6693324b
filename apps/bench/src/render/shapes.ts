import type { JsonValue } from '@rowcall/protocol';
import type { Arguments, HttpTemplateSource } from '@rowcall/substitution';
import type { Syntax } from './syntax.js';

/** A kind of http row, in whichever syntax. JSON stands before a comma: handlebars takes a brace behind it for its own. */
export interface Shape {
  readonly name: string;
  /** Content type of the body; null for a request without one. */
  readonly contentType: string | null;
  /** Writes it; a form without the `form:` that tells a row's payload to be one. */
  write(syntax: Syntax): Required<Pick<HttpTemplateSource, 'target' | 'payload'>> & {
    readonly headers: Readonly<Record<string, string>>;
  };
  /** Arguments of the `index`-th call: letters, digits and `-`, which mean themselves everywhere. */
  toArguments(index: number): Arguments;
}

const URL_ROW: Shape = {
  name: 'GET, $ in path and query',
  contentType: null,
  write: ({ positional }) => ({
    target: `GET https://api.example.com/v1/users/${positional(1)}/orders?limit=${positional(2)}&expand=lines`,
    headers: { Accept: 'application/json' },
    payload: '',
  }),
  toArguments: (index) => ({ positional: [`user-${index}`, String(index % 100)], named: {} }),
};

const EXPRESSION_ROW: Shape = {
  name: 'GET, RFC 6570, 4 headers',
  contentType: null,
  write: ({ segment, query, queryList, named }) => ({
    target:
      `GET https://api.example.com/repos/${segment('owner')}/${segment('repo')}/issues` +
      query(['state', 'page', 'per_page']) +
      queryList('labels'),
    headers: {
      Accept: 'application/vnd.example.v3+json',
      'X-Api-Version': '2026-03-01',
      'X-Request-Id': named('request'),
      'User-Agent': 'rowcall-bench',
    },
    payload: '',
  }),
  toArguments: (index) => ({
    positional: [],
    named: {
      owner: `team-${index % 7}`,
      repo: `service-${index}`,
      state: index % 2 === 0 ? 'open' : 'closed',
      page: index % 20,
      per_page: 50,
      labels: ['bug', `area-${index % 5}`, 'needs-triage'],
      request: `request-${index}`,
    },
  }),
};

const FORM_ROW: Shape = {
  name: 'POST, form of 6 fields',
  contentType: 'application/x-www-form-urlencoded',
  write: ({ positional, named }) => ({
    target: 'POST https://api.example.com/v1/charges',
    headers: { Accept: 'application/json', 'Idempotency-Key': named('order') },
    payload: [
      `amount=${positional(1)}&currency=${positional(2)}&customer=${named('customer')}`,
      `&metadata[order]=${named('order')}&capture=true&description=Order-${named('order')}`,
    ].join(''),
  }),
  toArguments: (index) => ({
    positional: [String(100 + index), index % 2 === 0 ? 'eur' : 'usd'],
    named: { customer: `cus-${index}`, order: `order-${index}` },
  }),
};

const SMALL_JSON_ROW: Shape = {
  name: 'POST, JSON of 120 bytes',
  contentType: 'application/json',
  write: ({ named, json }) => ({
    target: 'POST https://chat.example.com/api/messages',
    headers: { Accept: 'application/json' },
    payload: `{"channel":"${named('channel')}","text":"Build ${named('build')} ${named('state')}","thread":{"id":${json('thread')},"notify":true}}`,
  }),
  toArguments: (index) => ({
    positional: [],
    named: { channel: `ops-${index % 9}`, build: index, state: 'passed', thread: index * 3 },
  }),
};

const LINES = 12;

/** A line of an order: names of arguments with its number, and what is the same for each. */
function writeLine({ named, json }: Syntax, line: number): string {
  const item = `"item":{"sku":"${named(`sku${line}`)}","title":"Pallet scale, 1.5 t","unit":"piece"}`;
  return `{"line":${line},${item},"quantity":${json(`quantity${line}`)},"note":"for ${named('customer')}, shelf ${named(`shelf${line}`)}","taxes":[{"code":"VAT","rate":0.19}]}`;
}

const toLineArguments = (index: number, line: number): Record<string, JsonValue> => ({
  [`sku${line}`]: `SKU-${index}-${line}`,
  [`quantity${line}`]: 1 + ((index + line) % 9),
  [`shelf${line}`]: `B-${line}`,
});

const lines = Array.from({ length: LINES }, (_, line) => line + 1);

const LARGE_JSON_ROW: Shape = {
  name: 'POST, JSON of 3 kB, nested',
  contentType: 'application/json',
  write: (syntax) => {
    const { named, json, positional } = syntax;
    const address = `"address":{"tags":${json('tags')},"street":"${named('street')}","city":"${named('city')}","country":"DE"}`;
    return {
      target: `POST https://erp.example.com/v2/tenants/${positional(1)}/orders?notify=true`,
      headers: { Accept: 'application/json', 'X-Request-Id': named('request'), 'X-Source': 'bench' },
      payload: `{"totals":${json('totals')},"order":{"customer":{"id":"${named('customer')}",${address}},"lines":[${lines.map((line) => writeLine(syntax, line)).join()}]}}`,
    };
  },
  toArguments: (index) => ({
    positional: [`tenant-${index % 11}`],
    named: {
      customer: `customer-${index}`,
      request: `request-${index}`,
      street: `Harbour-Street-${index % 200}`,
      city: 'Bremen',
      tags: ['wholesale', `zone-${index % 4}`],
      totals: { net: 100 + index, gross: 119 + index, currency: 'EUR', parts: [index, index + 1, index + 2] },
      ...Object.assign({}, ...lines.map((line) => toLineArguments(index, line))),
    },
  }),
};

/** The rows that are rendered: small and large, one of each way to bring arguments in. */
export const SHAPES: readonly Shape[] = [URL_ROW, EXPRESSION_ROW, FORM_ROW, SMALL_JSON_ROW, LARGE_JSON_ROW];
