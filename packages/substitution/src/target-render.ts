import { AppError } from '@rowcall/errors';
import { toUrl } from './allowed-host.js';
import { renderOrigin } from './origin.js';
import { encodeComponent, encodeReserved, hasDotSegment } from './percent.js';
import type { Hole } from './reference.js';
import { badValue, type Rendering } from './rendering.js';
import type { UrlPart } from './target-scan.js';
import type { PathSegment, TargetTemplate } from './target-template.js';
import { expandExpression } from './uri-template.js';

/**
 * Renders the URL of a request. Scheme, host and port are the template's, and every segment of the path stands where
 * the template has it: the result is parsed again and compared.
 * @throws AppError `bad_template_value` when an argument would break that
 */
export function renderTarget(target: TargetTemplate, rendering: Rendering): string {
  const start = renderOrigin(target.origin, rendering);
  const path = start.path + renderPath(target, rendering);
  const mark = path.indexOf('?');
  const pathname = withSlash(mark === -1 ? path : path.slice(0, mark));
  const query = mark === -1 ? start.query + renderQuery(target.query, rendering) : path.slice(mark + 1);
  return requireSame(start.origin, pathname, query);
}

/** Parses the URL again, as the client will, and compares what must not have changed. */
function requireSame(origin: string, pathname: string, query: string): string {
  const text = origin + pathname + (query === '' ? '' : `?${query}`);
  const url = toUrl(text);
  if (url === undefined || url.origin !== origin || url.pathname !== pathname || hasUser(url) || url.hash !== '') {
    throw new AppError('bad_template_value', 'the arguments would change the origin or the path of the target');
  }
  return url.href;
}

function hasUser(url: URL): boolean {
  return url.username !== '' || url.password !== '';
}

function withSlash(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}

function renderPath({ path, openEnd }: TargetTemplate, rendering: Rendering): string {
  let text = '';
  for (const [index, piece] of path.entries()) {
    if (piece.kind === 'literal') text += piece.text;
    else text += renderSegment(piece, { rendering, encode: openEnd && index === path.length - 1 ? 'end' : 'path' });
  }
  return text;
}

/** `end`: the last part of a path that may go on with a query. */
type Encoding = 'path' | 'end' | 'query';

interface Frame {
  readonly rendering: Rendering;
  readonly encode: Encoding;
}

function renderSegment(segment: PathSegment, frame: Frame): string {
  let text = '';
  for (const [index, part] of segment.parts.entries()) {
    const isEnd = index === segment.parts.length - 1;
    text += renderPart(part, frame.encode === 'end' && !isEnd ? { ...frame, encode: 'path' } : frame);
  }
  if (segment.mayBeDots && hasDotSegment(text.split('?', 1)[0] ?? '')) throw dotSegment(segment);
  return text;
}

function dotSegment(segment: PathSegment): AppError {
  const sources = segment.parts.filter((part) => part.kind !== 'literal').map((part) => part.source);
  return badValue(
    sources.join(' '),
    'would make the path segment . or .., which leads to another path; send another value',
  );
}

function renderQuery(parts: readonly UrlPart[], rendering: Rendering): string {
  let text = '';
  for (const part of parts) text += renderPart(part, { rendering, encode: 'query' });
  // An absent {?x} leaves the & of what follows in front.
  return text.startsWith('&') ? text.slice(1) : text;
}

function renderPart(part: UrlPart, frame: Frame): string {
  if (part.kind === 'literal') return part.text;
  if (part.kind === 'hole') return renderHole(part, frame);
  const text = expandExpression(part, {
    lookup: (name) => frame.rendering.name(name),
    encodeReserved: (value) => encodeInPlace(value, frame.encode),
  });
  frame.rendering.spend(text);
  return part.operator === '?' ? text.slice(1) : text;
}

function renderHole(hole: Hole, { rendering, encode }: Frame): string {
  if (rendering.isUnknown(hole)) return encodeReserved(hole.source);
  const text = rendering.wellFormedText(hole);
  return hole.raw ? encodeInPlace(text, encode) : encodeComponent(text);
}

/** Keeps reserved characters, save those that would end the place: `#` always, `?` in a path that goes on. */
function encodeInPlace(text: string, encoding: Encoding): string {
  const encoded = encodeReserved(text).replaceAll('#', '%23');
  return encoding === 'path' ? encoded.replaceAll('?', '%3F') : encoded;
}
