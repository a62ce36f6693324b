import { describe, expect, test } from 'vitest';
import { buildAddressPolicy } from './address.js';

const closed = buildAddressPolicy({ allowNets: [], allowLoopback: false });

const REFUSED = [
  ['0.0.0.0', 'unspecified'],
  ['0.1.2.3', 'this network'],
  ['10.0.0.1', 'private'],
  ['10.255.255.255', 'private'],
  ['100.64.0.1', 'shared by carriers'],
  ['100.100.100.200', 'metadata of Alibaba, shared by carriers'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['168.63.129.16', "Azure's wire server"],
  ['169.254.0.1', 'link-local'],
  ['169.254.169.254', 'metadata'],
  ['169.254.170.2', 'metadata of containers'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.0.0.192', 'metadata of Oracle, reserved'],
  ['192.0.2.1', 'documentation'],
  ['192.88.99.1', '6to4 relay'],
  ['192.168.0.1', 'private'],
  ['198.18.0.1', 'benchmarking'],
  ['198.51.100.7', 'documentation'],
  ['203.0.113.9', 'documentation'],
  ['224.0.0.1', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['::127.0.0.1', 'IPv4-compatible loopback'],
  ['::8.8.8.8', 'IPv4-compatible, deprecated'],
  ['::ffff:127.0.0.1', 'IPv4-mapped loopback'],
  ['::ffff:a00:1', 'IPv4-mapped private'],
  ['::ffff:169.254.169.254', 'IPv4-mapped metadata'],
  ['::ffff:0:10.0.0.1', 'IPv4-translated'],
  ['64:ff9b::7f00:1', 'NAT64 of loopback'],
  ['64:ff9b::a9fe:a9fe', 'NAT64 of metadata'],
  ['64:ff9b:1::a00:1', 'NAT64 of a local prefix'],
  ['100::1', 'discard only'],
  ['2001::1', 'Teredo'],
  ['2001:db8::1', 'documentation'],
  ['3fff::1', 'documentation'],
  ['2002:7f00:1::', '6to4 of loopback'],
  ['2002:c0a8:101::1', '6to4 of private'],
  ['2002:a9fe:a9fe::1', '6to4 of metadata'],
  ['4000::1', 'outside global unicast'],
  ['fc00::1', 'unique-local'],
  ['fd00:ec2::254', 'metadata of EC2'],
  ['fd12:3456::1', 'unique-local'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local with a zone'],
  ['fec0::1', 'site-local'],
  ['ff02::1', 'multicast'],
  ['localhost', 'a name'],
  ['', 'nothing'],
] as const;

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '11.0.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '172.15.255.255',
  '172.32.0.1',
  '192.169.0.1',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2a00:1450:4001:800::200e',
  '::ffff:8.8.8.8',
  '2002:808:808::1',
];

describe('address policy', () => {
  test.each(REFUSED)('refuses %s: %s', (address) => {
    expect(closed(address)).toEqual(expect.any(String));
  });

  test.each(PUBLIC)('allows %s', (address) => {
    expect(closed(address)).toBeUndefined();
  });

  test('opens loopback of both families, mapped too, and nothing more', () => {
    const policy = buildAddressPolicy({ allowNets: [], allowLoopback: true });
    expect(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'].map(policy)).toEqual(Array(4).fill(undefined));
    for (const address of ['0.0.0.0', '::', '10.0.0.1', '169.254.169.254', '::127.0.0.1']) {
      expect(policy(address)).toEqual(expect.any(String));
    }
  });

  test('opens exactly the listed networks', () => {
    const policy = buildAddressPolicy({
      allowNets: ['10.1.0.0/16', 'fd00:1::/32', '192.168.7.7'],
      allowLoopback: false,
    });
    for (const address of ['10.1.2.3', 'fd00:1::5', '192.168.7.7', '::ffff:10.1.2.3']) {
      expect(policy(address)).toBeUndefined();
    }
    for (const address of ['10.2.0.1', 'fd00:2::5', '192.168.7.8', '127.0.0.1', '169.254.169.254']) {
      expect(policy(address)).toEqual(expect.any(String));
    }
  });

  test('judges what NAT64 carries even when its prefix is listed', () => {
    const policy = buildAddressPolicy({ allowNets: ['64:ff9b::/96'], allowLoopback: false });
    expect(policy('64:ff9b::808:808')).toBeUndefined();
    expect(policy('64:ff9b::a9fe:a9fe')).toBe('linkLocal');
  });

  test.each(['10.0.0.0/33', 'intranet', '10.0.0/8x', 'fd00::/129'])('names the malformed network %s', (net) => {
    expect(() => buildAddressPolicy({ allowNets: [net], allowLoopback: false })).toThrow(`"${net}" is not a network`);
  });
});
