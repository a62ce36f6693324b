import { describe, expect, it } from 'vitest';
import { explainLog } from './log-file.js';

describe('why a process ended', () => {
  it('is what its fatal lines say, without their stack', () => {
    const log = [
      '{"level":40,"msg":"a warning"}',
      '{"level":60,"msg":"cannot start","err":{"message":"port 1 is taken","stack":"Error: port 1\\n    at listen"}}',
      '{"level":30,"msg":"stopping"}',
      '',
    ].join('\n');
    expect(explainLog(log, 'api.log')).toBe('cannot start: port 1 is taken');
  });

  it('is else in the last lines, whatever they are', () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
    expect(explainLog(`${lines.join('\n')}\n`, 'api.log')).toBe(`the end of api.log:\n${lines.slice(8).join('\n')}`);
  });
});
