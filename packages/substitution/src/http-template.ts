import type { Arguments } from './arguments.js';
import type { ParseResult } from './diagnostic.js';
import { type HeaderTemplate, parseHeaders, renderHeader } from './header-template.js';
import { Parsing, type UsedArguments } from './parsing.js';
import { type Body, type PayloadTemplate, parsePayload, renderPayload } from './payload-template.js';
import { Rendering, requireSize } from './rendering.js';
import { renderTarget } from './target-render.js';
import { parseTarget, type TargetTemplate } from './target-template.js';

/** The texts of an http row that hold templates. */
export interface HttpTemplateSource {
  /** `METHOD URL`; without a method, GET. */
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>> | null;
  /** What follows the docstring. */
  readonly payload: string;
  /** `limits.hosts`: the hosts that an origin written `$$1` may name; `host`, `host:port` or `scheme://host[:port]`. */
  readonly allowedHosts?: readonly string[];
}

/** A compiled http row. Readonly and free of state: one may be rendered by many calls at once. */
export interface HttpTemplate {
  readonly kind: 'http';
  readonly target: TargetTemplate;
  readonly headers: readonly HeaderTemplate[];
  /** The row's own `Content-Type`, which replaces that of the payload. */
  readonly contentType: HeaderTemplate | null;
  readonly payload: PayloadTemplate | null;
  readonly used: UsedArguments;
}

/** A request, ready to be sent once credentials are added. */
export interface HttpRequestParts {
  readonly method: string;
  readonly url: string;
  /** The row's headers in their order; never one of the body's. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
  readonly body: { readonly contentType: string; readonly text: string } | null;
}

/**
 * Compiles an http row (SPEC 4 and 5), or lists what is wrong with it.
 *
 * - `target`: scheme, host and port are fixed by the template, or the whole origin is `$$1` (or `$$name`) and
 *   `allowedHosts` lists the hosts it may name. RFC 6570 expressions, level 4, stand beside `$`. A fragment is not sent.
 * - In a URL `$$1` is what `{+x}` is: reserved characters and triplets stay. `#` never does, `?` only where the hole
 *   ends a target without a query; and neither leads to a segment `.` or `..`.
 * - `payload`: JSON when it begins with `{` or `[`, else `form:`, `multipart:` or raw text. GET takes JSON only, HEAD none.
 * - A `Content-Type` among `headers` replaces the one the payload would have, save for `multipart:`.
 */
export function parseHttpTemplate(source: HttpTemplateSource): ParseResult<HttpTemplate> {
  const parsing = new Parsing();
  const targetPlace = parsing.open('target', source.target.trimEnd());
  const target = targetPlace.tooLong ? undefined : parseTarget(targetPlace, source.allowedHosts ?? []);
  const allHeaders = parseHeaders(parsing, source.headers ?? {});
  const payloadPlace = parsing.open('payload', source.payload);
  const payload = parsePayload(payloadPlace, target?.method ?? 'POST');
  const contentType = payload === null ? null : (allHeaders.find(isContentType) ?? null);
  if (contentType !== null && payload?.kind === 'multipart') {
    parsing
      .open(`headers.${contentType.name}`, '')
      .report(0, 'multipart: sets the content type with its boundary; remove the header');
  }
  const headers = allHeaders.filter((header) => header !== contentType);
  return parsing.finish((used) => {
    if (target === undefined) throw new Error('a target without faults was not compiled');
    return { kind: 'http', target, headers, contentType, payload, used };
  });
}

function isContentType({ name }: HeaderTemplate): boolean {
  return name.toLowerCase() === 'content-type';
}

/**
 * Fills an http row in one pass; what an argument brings is never scanned again and never changes the structure.
 * @throws AppError `bad_template_value` for a value that does not fit its place, `bad_json_value` for one that is not
 * JSON where JSON stands, `payload_too_large` over 16 MiB. Messages name the argument and never hold its value.
 */
export function renderHttpTemplate(template: HttpTemplate, args: Arguments): HttpRequestParts {
  const rendering = new Rendering(args, template.used);
  return {
    method: template.target.method,
    url: requireSize(renderTarget(template.target, rendering)),
    headers: template.headers.map((header) => [header.name, renderHeader(header, rendering)] as const),
    body: template.payload === null ? null : renderTypedPayload(template.payload, template.contentType, rendering),
  };
}

function renderTypedPayload(payload: PayloadTemplate, contentType: HeaderTemplate | null, rendering: Rendering): Body {
  const body = renderPayload(payload, rendering);
  return contentType === null ? body : { ...body, contentType: renderHeader(contentType, rendering) };
}
