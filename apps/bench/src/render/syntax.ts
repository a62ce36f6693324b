/** How one template language writes what an http row has. */
export interface Syntax {
  /** The n-th argument, from 1. */
  positional(number: number): string;
  /** A named argument as text. */
  named(name: string): string;
  /** A named argument that is JSON, where a value stands. */
  json(name: string): string;
  /** A named argument as a segment of a path. */
  segment(name: string): string;
  /** Named arguments as a query; the first one follows `?`. */
  query(names: readonly string[]): string;
  /** A list as further fields of a query, one for each member. */
  queryList(name: string): string;
}

/** The syntax of rows: `$`, and RFC 6570 in a target. */
export const ROW_SYNTAX: Syntax = {
  positional: (number) => `$${number}`,
  named: (name) => `$${name}`,
  json: (name) => `$${name}`,
  segment: (name) => `{${name}}`,
  query: (names) => `{?${names.join()}}`,
  queryList: (name) => `{&${name}*}`,
};

/** Names in a view of the `number`-th argument, and of a named one as JSON text. */
export const toPositionalName = (number: number): string => `p${number}`;
export const toJsonName = (name: string): string => `${name}Json`;

const BRACES: Omit<Syntax, 'queryList'> = {
  positional: (number) => `{{{${toPositionalName(number)}}}}`,
  named: (name) => `{{{${name}}}}`,
  json: (name) => `{{{${toJsonName(name)}}}}`,
  segment: (name) => `{{{${name}}}}`,
  query: (names) => `?${names.map((name) => `${name}={{{${name}}}}`).join('&')}`,
};

/** mustache(5), nothing escaped. */
export const MUSTACHE_SYNTAX: Syntax = {
  ...BRACES,
  queryList: (name) => `{{#${name}}}&${name}={{{.}}}{{/${name}}}`,
};

/** Handlebars, nothing escaped. */
export const HANDLEBARS_SYNTAX: Syntax = {
  ...BRACES,
  queryList: (name) => `{{#each ${name}}}&${name}={{{this}}}{{/each}}`,
};
