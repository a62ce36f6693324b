const UNRESERVED_ONLY = /^[A-Za-z0-9\-._~]*$/;
const SUB_DELIMS_LEFT = /[!'()*]/g;

/** Percent-encodes everything but the unreserved characters (RFC 3986, 2.3). @param text well-formed Unicode */
export function encodeComponent(text: string): string {
  if (UNRESERVED_ONLY.test(text)) return text;
  return encodeURIComponent(text).replace(SUB_DELIMS_LEFT, toTriplet);
}

/** Percent-encodes what no URL may hold: unreserved and reserved characters and triplets stay (RFC 6570, 3.2.3). */
export function encodeReserved(text: string): string {
  if (UNRESERVED_ONLY.test(text)) return text;
  // Brackets first: a %5B of the text is %255B by now, and must not become one.
  return encodeURI(text)
    .replace(/%5[BD]/g, (triplet) => (triplet === '%5B' ? '[' : ']'))
    .replace(/%25(?=[0-9A-Fa-f]{2})/g, '%');
}

function toTriplet(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;

/**
 * Tells whether a path holds a segment that is `.` or `..`, also as `%2e`, which URL parsers (WHATWG) take for the same.
 * Parameters behind `;` do not count: some servers cut them off before they resolve dots.
 */
export function hasDotSegment(path: string): boolean {
  if (!path.includes('.') && !/%2e/i.test(path)) return false;
  return path.split('/').some((segment) => DOT_SEGMENT.test(segment.split(';', 1)[0] ?? ''));
}
