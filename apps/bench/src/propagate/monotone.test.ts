import { describe, expect, it } from 'vitest';
import { Highest } from './monotone.js';

describe('reads that must not go back', () => {
  it('counts an answer older than one that was there before the question', () => {
    const highest = new Highest();
    highest.take(5, 0);
    highest.take(4, highest.version);
    expect(highest).toMatchObject({ reads: 2, wentBack: 1, firstBack: 'version 4 was served after version 5' });
  });

  it('does not count answers that overtook each other on the way', () => {
    const highest = new Highest();
    const floor = highest.version;
    highest.take(5, floor);
    highest.take(4, floor);
    expect(highest.wentBack).toBe(0);
  });

  it('lets a row be away for a while, and still knows how far it was', () => {
    const highest = new Highest();
    highest.take(5, 0);
    highest.take(undefined, highest.version);
    highest.take(1, highest.version);
    expect(highest.wentBack).toBe(1);
  });
});
