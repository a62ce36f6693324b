/** A host that an argument may name: any scheme on its default port, one port, or one whole origin. */
export interface AllowedHost {
  readonly hostname: string;
  /** null: the default port of the scheme. */
  readonly port: string | null;
  /** `https:`, or null for both http and https. */
  readonly protocol: string | null;
}

const PORT = /:([0-9]{1,5})$/;
const FORBIDDEN = /[\s\\@?#]/;
/** A DNS name (with `_`, which occurs) or an address. WHATWG would also take `*`, `$` and other marks. */
const HOSTNAME = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/;

/**
 * Reads one entry of `limits.hosts`: `api.example.com`, `127.0.0.1:8080` or `https://api.example.com`.
 * @returns undefined when the entry is none of these
 */
export function parseAllowedHost(entry: string): AllowedHost | undefined {
  const [, scheme, host = ''] = /^(?:(https?):\/\/)?([^/]+)$/i.exec(entry) ?? [];
  if (host === '' || FORBIDDEN.test(host)) return undefined;
  const url = toUrl(`https://${host}/`);
  if (url === undefined || !isHostname(url.hostname)) return undefined;
  return {
    hostname: url.hostname,
    port: PORT.exec(host)?.[1]?.replace(/^0+(?=.)/, '') ?? null,
    protocol: scheme === undefined ? null : `${scheme.toLowerCase()}:`,
  };
}

/** Tells whether a host, as the WHATWG parser writes it, is a DNS name or an address. */
export function isHostname(hostname: string): boolean {
  return HOSTNAME.test(hostname);
}

/** Tells whether a parsed http(s) URL is at an allowed host. Host names compare as the WHATWG parser writes them. */
export function isAllowedHost(url: URL, hosts: readonly AllowedHost[]): boolean {
  const defaultPort = url.protocol === 'https:' ? '443' : '80';
  const port = url.port === '' ? defaultPort : url.port;
  return hosts.some(
    (host) =>
      host.hostname === url.hostname &&
      (host.port ?? defaultPort) === port &&
      (host.protocol === null || host.protocol === url.protocol),
  );
}

/** Parses an absolute URL (WHATWG). @returns undefined when it is not one */
export function toUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
