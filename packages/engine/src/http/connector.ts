import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { rootCertificates } from 'node:tls';
import { buildConnector } from 'undici';
import type { AddressPolicy } from './address.js';
import type { ResolvedAddress } from './types.js';

const CONNECT_TIMEOUT_MS = 10_000;

/** An address was refused before anything was sent. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError';
}

/** What {@link buildCheckedConnector} takes. */
export interface CheckedConnectorOptions {
  readonly policy: AddressPolicy;
  readonly resolve: (hostname: string) => Promise<readonly ResolvedAddress[]>;
  readonly ca: readonly string[];
}

/** Asks the system's resolver for every address of a name. */
export async function resolveHostname(hostname: string): Promise<readonly ResolvedAddress[]> {
  const found = await lookup(hostname, { all: true, verbatim: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}

/**
 * Builds undici's connector so that the address dialled is the address checked: a name is resolved once per connection,
 * every address is judged, and the socket gets exactly those addresses. A name of which one address is refused is
 * refused whole. Host, SNI and the certificate's name stay those of the URL.
 */
export function buildCheckedConnector({ policy, resolve, ca }: CheckedConnectorOptions): buildConnector.connector {
  const connect = buildConnector({
    lookup: toLookup(policy, resolve),
    autoSelectFamily: true,
    timeout: CONNECT_TIMEOUT_MS,
    allowH2: true,
    ...(ca.length === 0 ? {} : { ca: [...rootCertificates, ...ca] }),
  } as buildConnector.BuildOptions);
  return (options, callback) => {
    // Node never calls `lookup` for a literal address.
    const refusal = isIP(options.hostname) === 0 ? undefined : policy(options.hostname);
    if (refusal !== undefined) callback(toRefusal(options.hostname, refusal), null);
    else connect(options, callback);
  };
}

function toLookup(
  policy: AddressPolicy,
  resolve: (hostname: string) => Promise<readonly ResolvedAddress[]>,
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname)
      .then((addresses) => getChecked(hostname, addresses, policy))
      .then(
        ([first, ...rest]) =>
          options.all === true ? callback(null, [first, ...rest]) : callback(null, first.address, first.family),
        (error: NodeJS.ErrnoException) => callback(error, []),
      );
  };
}

function getChecked(
  hostname: string,
  addresses: readonly ResolvedAddress[],
  policy: AddressPolicy,
): [ResolvedAddress, ...ResolvedAddress[]] {
  for (const { address } of addresses) {
    const refusal = policy(address);
    if (refusal !== undefined) throw toRefusal(hostname, refusal);
  }
  const [first, ...rest] = addresses;
  if (first === undefined) throw Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
  return [first, ...rest];
}

/** Names the range alone: what a name resolves to inside the network is not the caller's to know. */
function toRefusal(hostname: string, range: string): AddressRefusedError {
  return new AddressRefusedError(
    `${hostname} does not lead to a public address (${range}); list its network in ROWCALL_ALLOW_NETS to allow it`,
  );
}
