import { expect, it } from 'vitest';
import { toEmbeddingText } from './embedding-text.js';
import type { HeldRow } from './entry.js';

const textOf = (key: string, content: string) => toEmbeddingText({ key, content, type: 'http' } as HeldRow);

it('the text of a row is its key as words, what it does, when it is used, and the names of its arguments', () => {
  const content = [
    '# WHAT: Opens an issue.',
    '# WHEN_TO_USE: something is broken.',
    '# ARGS: $1=owner (user) | $2+=title (any text)',
    '# EX: [OPEN_ISSUE]me|it fails[/OPEN_ISSUE]',
    '{"title": "$2+"}',
  ].join('\n');
  expect(textOf('_OPEN_ISSUE', content)).toBe('open issue\nOpens an issue.\nsomething is broken.\nowner, title');
});

it('the text of a row that says nothing of itself is its key', () => {
  expect(textOf('PING', '{"a": 1}')).toBe('ping');
});

it('the text of a row has 8,000 characters at the most, and no half of one', () => {
  const text = textOf('A', `# WHAT: ${'x'.repeat(7_997)}\u{1F600} and more`);
  expect(text).toHaveLength(8_000);
  expect(text.isWellFormed()).toBe(true);
});
