import { type AllowedHost, isAllowedHost, isHostname, parseAllowedHost, toUrl } from './allowed-host.js';
import type { Place } from './parsing.js';
import type { Hole } from './reference.js';
import { badValue, type Rendering } from './rendering.js';
import type { UrlPart } from './target-scan.js';

/** Where a request goes: fixed by the template, or the argument of `$$1`, held to a list of hosts. */
export type Origin =
  | { readonly kind: 'fixed'; readonly origin: string }
  | {
      readonly kind: 'argument';
      readonly hole: Hole;
      readonly hosts: readonly AllowedHost[];
      /** Nothing follows the hole: the argument may then be a whole URL. */
      readonly whole: boolean;
    };

/** An origin, and the parts behind it. */
export interface SplitOrigin {
  readonly origin: Origin;
  readonly rest: readonly UrlPart[];
}

const AUTHORITY = /^(https?:\/\/)([^/?#]*)/i;
const ARGUMENT_IN_ORIGIN =
  'an argument may not change scheme, host or port; write them out and end them with /, or write the whole origin as $$1 and name its hosts in limits.hosts';

/** Splits the origin from a scanned URL. @returns undefined after reporting what is wrong with it */
export function parseOrigin(
  place: Place,
  parts: readonly UrlPart[],
  allowedHosts: readonly string[],
): SplitOrigin | undefined {
  const [first, ...rest] = parts;
  if (first?.kind === 'literal') return parseFixed(place, first, rest);
  if (first?.kind === 'hole' && isOriginHole(first)) return parseArgument(place, first, { rest, allowedHosts });
  const message = first === undefined ? 'the URL is missing; write METHOD URL' : ARGUMENT_IN_ORIGIN;
  place.report(first?.offset ?? place.text.length, message);
  return undefined;
}

function isOriginHole(hole: Hole): boolean {
  return hole.raw && (hole.reference.kind === 'position' || hole.reference.kind === 'name');
}

function parseFixed(
  place: Place,
  first: Extract<UrlPart, { kind: 'literal' }>,
  rest: readonly UrlPart[],
): SplitOrigin | undefined {
  const [match = '', scheme = '', authority = ''] = AUTHORITY.exec(first.text) ?? [];
  const after = first.text.slice(match.length);
  const next = rest[0];
  if (match === '') {
    place.report(
      first.offset,
      'a target is METHOD URL with an absolute http:// or https:// URL and an upper-case method',
    );
    return undefined;
  }
  if (after === '' && next !== undefined && !opensPlace(next)) {
    place.report(next.offset, ARGUMENT_IN_ORIGIN);
    return undefined;
  }
  if (authority.includes('@')) {
    place.report(first.offset, 'a URL holds no user or password; name a credential in auth');
    return undefined;
  }
  const url = toUrl(`${scheme}${authority}/`);
  if (authority === '' || url === undefined || !isHostname(url.hostname)) {
    place.report(first.offset + scheme.length, 'the host is missing or not valid');
    return undefined;
  }
  const remaining: UrlPart[] =
    after === '' ? [...rest] : [{ kind: 'literal', text: after, offset: first.offset + match.length }, ...rest];
  return { origin: { kind: 'fixed', origin: url.origin }, rest: remaining };
}

/** An expression whose expansion begins with the character that ends an authority. */
function opensPlace(part: UrlPart): boolean {
  return part.kind === 'expression' && '/?#'.includes(part.operator) && part.operator !== '';
}

function parseArgument(
  place: Place,
  hole: Hole,
  { rest, allowedHosts }: { rest: readonly UrlPart[]; allowedHosts: readonly string[] },
): SplitOrigin | undefined {
  const hosts: AllowedHost[] = [];
  for (const entry of allowedHosts) {
    const host = parseAllowedHost(entry);
    if (host === undefined)
      place.report(hole.offset, `limits.hosts: "${entry.slice(0, 64)}" is not a host, host:port or origin`);
    else hosts.push(host);
  }
  if (allowedHosts.length === 0) {
    place.report(hole.offset, `${hole.source} names the origin; list the hosts it may name in limits.hosts`);
  }
  const next = rest[0];
  if (next !== undefined && !(next.kind === 'literal' ? /^[/?#]/.test(next.text) : opensPlace(next))) {
    place.report(next.offset, ARGUMENT_IN_ORIGIN);
    return undefined;
  }
  return { origin: { kind: 'argument', hole, hosts, whole: next === undefined }, rest };
}

/** A rendered origin. `path` and `query` are set where the argument was a whole URL. */
export interface RenderedOrigin {
  readonly origin: string;
  readonly path: string;
  readonly query: string;
}

const ABSOLUTE = /^https?:\/\/[^\s\\]+$/i;

/** Renders the origin. @throws AppError `bad_template_value` when the argument is no origin, or its host is not allowed */
export function renderOrigin(origin: Origin, rendering: Rendering): RenderedOrigin {
  if (origin.kind === 'fixed') return { origin: origin.origin, path: '', query: '' };
  const { hole } = origin;
  const text = rendering.wellFormedText(hole);
  const url = ABSOLUTE.test(text) ? toUrl(text) : undefined;
  if (url === undefined) throw badValue(hole.source, 'must be an origin such as https://api.example.com');
  if (url.username !== '' || url.password !== '') throw badValue(hole.source, 'must hold no user or password');
  if (!isAllowedHost(url, origin.hosts))
    throw badValue(hole.source, 'names a host that the row does not allow in limits.hosts');
  if (!origin.whole && (url.pathname !== '/' || url.search !== '' || url.hash !== '')) {
    throw badValue(hole.source, 'must be an origin alone, without path or query');
  }
  return { origin: url.origin, path: origin.whole ? url.pathname : '', query: origin.whole ? url.search.slice(1) : '' };
}
