import { describe, expect, it } from 'vitest';
import { LINE_BYTES_MAX, type NumberedLine, readLines } from './ndjson.js';

async function read(...chunks: readonly (string | Uint8Array)[]): Promise<NumberedLine[]> {
  async function* stream() {
    for (const chunk of chunks) yield Buffer.from(chunk as string);
  }
  const lines: NumberedLine[] = [];
  for await (const line of readLines(stream())) lines.push(line);
  return lines;
}

describe('lines of a stream', () => {
  it('are whole wherever the chunks are cut, inside a character too', async () => {
    const bytes = Buffer.from('{"a":"é😀"}\r\n[1]\nlast');
    const lines = [
      { number: 1, text: '{"a":"é😀"}' },
      { number: 2, text: '[1]' },
      { number: 3, text: 'last' },
    ];
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(await read(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(lines);
    }
  });

  it('are counted where they are empty, and left out', async () => {
    expect(await read('\n\n \r\nx\n\n')).toEqual([{ number: 4, text: 'x' }]);
    expect(await read('')).toEqual([]);
  });

  it('that are too long fail alone', async () => {
    const most = 'x'.repeat(LINE_BYTES_MAX);
    const [first, second, third] = await read(`${most}\n`, most, 'y', 'z\nnext');
    expect(first).toEqual({ number: 1, text: most });
    expect(second).toMatchObject({ number: 2, error: { code: 'payload_too_large' } });
    expect(third).toEqual({ number: 3, text: 'next' });
  });

  it('that are no UTF-8 fail alone', async () => {
    const [first, second] = await read(new Uint8Array([0x22, 0xff, 0x22, 0x0a]), 'next');
    expect(first).toMatchObject({ number: 1, error: { code: 'invalid_json' } });
    expect(second).toEqual({ number: 2, text: 'next' });
  });
});
