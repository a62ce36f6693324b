import { expect, test } from 'vitest';
import { SharedTexts } from './shared-texts.js';

test('gives every text back as it was, the long ones and those that come when its room is used up included', () => {
  const texts = new SharedTexts();
  const given = [...Array.from({ length: 3_000 }, (_, number) => `text ${number % 1_500}`), 'æ'.repeat(1_000), ''];
  expect(given.map((text) => texts.share(text))).toEqual(given);
  expect(texts.share(null)).toBeNull();
});
