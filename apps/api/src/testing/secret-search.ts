import type { Store } from '@rowcall/store';

/** A form in which a value may turn up, by name, with what to look for. */
type Form = readonly [name: string, needle: string];

/** Bytes in front that are no part of the value: the letters of Base64 depend on where in a longer text it stands. */
const ALIGNMENTS = [0, 1, 2];

/**
 * Every form of `value` that {@link findForms} looks for. Written apart from the product's own list, so that a form
 * which is missing there is not missing here.
 */
function toForms(value: string): readonly Form[] {
  const forms = toStraightForms(value);
  return [...forms, ...forms.map(([name, needle]): Form => [`${name}, reversed`, [...needle].reverse().join('')])];
}

function toStraightForms(value: string): readonly Form[] {
  const bytes = Buffer.from(value);
  const json = JSON.stringify(value).slice(1, -1);
  const url = encodeURIComponent(value);
  const base64 = ALIGNMENTS.map((before): Form => [`base64 at ${before}`, toBase64Letters(bytes, before)]);
  return [
    ['plain', value],
    ['JSON-escaped', json],
    ['JSON-escaped twice', JSON.stringify(json).slice(1, -1)],
    ['URL-encoded', url],
    ['URL-encoded twice', encodeURIComponent(url)],
    ['form-encoded', String(new URLSearchParams({ '': value })).slice(1)],
    ...base64,
    ...base64.map(([name, letters]): Form => [name.replace('64', '64url'), toUrlAlphabet(letters)]),
    ['hexadecimal', bytes.toString('hex')],
  ];
}

/** The letters that come of the value alone, whatever stands before and after it. */
function toBase64Letters(value: Buffer, before: number): string {
  const text = Buffer.concat([Buffer.alloc(before, 'x'), value])
    .toString('base64')
    .replace(/=+$/, '');
  const isWhole = (before + value.length) % 3 === 0;
  return text.slice(before === 0 ? 0 : before + 1, isWhole ? undefined : -1);
}

const toUrlAlphabet = (letters: string): string => letters.replaceAll('+', '-').replaceAll('/', '_');

/** Escapes differ with every layer that quotes a text; without quotes and backslashes all of them look alike. */
const toBare = (text: string): string => text.replace(/[\\"]/g, '');

/** Binary columns are written in hexadecimal. */
const decodeBytea = (text: string): string =>
  text.replace(/\\x((?:[0-9a-f]{2})+)/g, (_, hex: string) => Buffer.from(hex, 'hex').toString('latin1'));

/** A text in which values can be looked for, prepared once. */
export interface Haystack {
  /** The names of the forms in which `value` occurs, in any case of letters; none: it is not there. */
  findForms(value: string): readonly string[];
}

/** Prepares `text` for the search. */
export function buildHaystack(text: string): Haystack {
  const exact = [text, toBare(text), decodeBytea(text)];
  const folded = exact.map((view) => view.toLowerCase());
  const holds = (needle: string): boolean =>
    exact.some((view) => view.includes(needle) || view.includes(toBare(needle)));
  const holdsInAnyCase = (needle: string): boolean =>
    folded.some((view) => view.includes(needle.toLowerCase()) || view.includes(toBare(needle).toLowerCase()));
  return {
    findForms: (value) =>
      toForms(value)
        // In another case, letters of Base64 mean another value.
        .filter(([name, needle]) => (name.startsWith('base64') ? holds(needle) : holdsInAnyCase(needle)))
        .map(([name]) => name),
  };
}

/** Every value of every table of the schema as one text, as a dump of the database would hold it. */
export async function dumpTables({ pool }: Pick<Store, 'pool'>): Promise<string> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const parts: string[] = [];
  for (const { name } of tables) {
    const { rows } = await pool.query<{ line: string }>(`select t::text as line from ${name} t`);
    parts.push(name, ...rows.map(({ line }) => line));
  }
  return parts.join('\n');
}
