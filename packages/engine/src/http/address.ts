import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Tells why an address may not be dialled; undefined when it may. */
export type AddressPolicy = (address: string) => string | undefined;

/** Which addresses an {@link AddressPolicy} opens beside public ones. */
export interface AddressPolicyOptions {
  readonly allowNets: readonly string[];
  readonly allowLoopback: boolean;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Net = [Address, number];

/** Public by number, yet served by the cloud's host to its guests: Azure's wire server. */
const HOST_SERVICES = ipaddr.IPv4.parseCIDR('168.63.129.16/32');
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
const DOCUMENTATION_V6 = ipaddr.IPv6.parseCIDR('3fff::/20');
const SIX_TO_FOUR = ipaddr.IPv6.parseCIDR('2002::/16');
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * Builds the guard against server-side request forgery: public unicast addresses pass, and so do the networks of
 * `allowNets`. Everything else of the IANA special-purpose registries (RFC 6890) is refused: loopback, link-local with
 * its metadata services, private, shared, documentation, multicast. An IPv6 address that carries an IPv4 address
 * (mapped, NAT64, 6to4) is judged by that too.
 * @throws Error when a network of `allowNets` is not a CIDR.
 */
export function buildAddressPolicy({ allowNets, allowLoopback }: AddressPolicyOptions): AddressPolicy {
  const nets = allowNets.map(toNet);
  const judge = (address: Address): string | undefined => {
    const range = toRange(address);
    if (range === 'public' || (range === 'loopback' && allowLoopback) || nets.some((net) => isInside(address, net))) {
      return undefined;
    }
    return range;
  };
  return (text) => {
    const address = parseAddress(text);
    if (address === undefined) return 'not an address';
    const carried = toCarriedIpv4(address);
    return judge(address) ?? (carried === undefined ? undefined : judge(carried));
  };
}

/** An IPv4-mapped address becomes the IPv4 address it stands for. */
function parseAddress(text: string): Address | undefined {
  if (isIP(text) === 0) return undefined;
  if (!text.includes(':')) return ipaddr.parse(text);
  // ipaddr takes `::8.8.8.8` for the mapped `::ffff:8.8.8.8`: only hexadecimal groups are safe to hand it.
  const [address = ''] = text.split('%');
  return ipaddr.process(new URL(`http://[${address}]`).hostname.slice(1, -1));
}

function toNet(cidr: string): Net {
  const text = cidr.trim();
  const bits = text.includes(':') ? 128 : 32;
  try {
    const [address, prefix] = ipaddr.parseCIDR(text.includes('/') ? text : `${text}/${bits}`);
    return [address, prefix];
  } catch (cause) {
    throw new Error(`"${cidr}" is not a network: write it like 10.0.0.0/8 or fd00::/8`, { cause });
  }
}

function isInside(address: Address, [net, prefix]: Net): boolean {
  return address.kind() === net.kind() && address.match(net, prefix);
}

function toRange(address: Address): string {
  if (address instanceof ipaddr.IPv4) return toIpv4Range(address);
  if (address.match(SIX_TO_FOUR)) return 'public';
  if (address.range() !== 'unicast') return address.range();
  return address.match(GLOBAL_UNICAST) && !address.match(DOCUMENTATION_V6) ? 'public' : 'reserved';
}

function toIpv4Range(address: ipaddr.IPv4): string {
  if (address.match(HOST_SERVICES)) return 'metadata';
  return address.range() === 'unicast' ? 'public' : address.range();
}

function toCarriedIpv4(address: Address): Address | undefined {
  if (address instanceof ipaddr.IPv4) return undefined;
  const bytes = address.toByteArray();
  if (address.match(SIX_TO_FOUR)) return new ipaddr.IPv4(bytes.slice(2, 6));
  if (address.match(NAT64)) return new ipaddr.IPv4(bytes.slice(12));
  return undefined;
}
