import { describe, expect, it } from 'vitest';
import { cutAnswer } from './connection.js';

const bytes = (text: string) => Buffer.from(text.replaceAll('\n', '\r\n'));

describe('cutting an answer off a stream', () => {
  it('gives status and body, and how many bytes they took', () => {
    const cut = cutAnswer(bytes('HTTP/1.1 200 OK\nContent-Length: 2\nx: y\n\nhiHTTP/1.1 500'));
    expect(cut?.answer.status).toBe(200);
    expect(cut?.answer.body.toString()).toBe('hi');
    expect(cut?.used).toBe('HTTP/1.1 200 OK..Content-Length: 2..x: y....hi'.length);
  });

  it('counts the body in bytes, not in characters', () => {
    expect(cutAnswer(bytes('HTTP/1.1 200 OK\ncontent-length: 5\n\næø'))).toBeUndefined();
    expect(cutAnswer(bytes('HTTP/1.1 200 OK\ncontent-length: 4\n\næø'))?.answer.body.toString()).toBe('æø');
  });

  it('waits for the rest of a head or a body', () => {
    const whole = 'HTTP/1.1 503 Service Unavailable\ncontent-length: 4\n\nbusy';
    for (let end = 0; end < bytes(whole).length; end += 1) {
      expect(cutAnswer(bytes(whole).subarray(0, end))).toBeUndefined();
    }
    expect(cutAnswer(bytes(whole))?.answer.status).toBe(503);
  });

  it('refuses an answer whose length it cannot know', () => {
    expect(() => cutAnswer(bytes('HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n'))).toThrow(/content-length/);
  });
});
