import { beforeEach, describe, expect, it } from 'vitest';
import { FailureLimit, toNetwork } from './failure-limit.js';

describe('a network', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['::1', '::/64'],
    ['a name', 'unknown'],
    [undefined, 'unknown'],
  ])('of %s is %s', (address, network) => {
    expect(toNetwork(address)).toBe(network);
  });
});

describe('the limit of wrong credentials', () => {
  let now: number;
  let limit: FailureLimit;
  beforeEach(() => {
    now = 1_000;
    limit = new FailureLimit(() => now);
  });
  const addMany = (network: string, times: number) => Array.from({ length: times }, () => limit.add(network));

  it('lets twenty pass in a minute, and says how long the next has to wait', () => {
    expect(addMany('a', 20)).toEqual(Array(20).fill(undefined));
    expect(limit.add('a')).toBe(60);
    now += 30_500;
    expect(limit.add('a')).toBe(30);
    now += 29_499;
    expect(limit.add('a')).toBe(1);
    now += 1;
    expect(limit.add('a')).toBeUndefined();
  });

  it('counts every network for itself', () => {
    addMany('a', 21);
    expect(limit.add('b')).toBeUndefined();
  });

  it('remembers a bounded number of networks, counts the rest together, and forgets what is over', () => {
    for (let n = 0; n < 30_000; n += 1) limit.add(`network ${n}`);
    expect(limit.size).toBe(10_001);
    expect(limit.add('one more')).toBe(60);
    expect(limit.add('network 1')).toBeUndefined();
    now += 60_000;
    expect(limit.add('one more')).toBeUndefined();
    expect(limit.size).toBe(1);
  });
});
