import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { isTransient } from './pool.js';

function makeDatabaseError(code: string, severity = 'ERROR'): Error {
  const error = new pg.DatabaseError('message', 0, 'error');
  return Object.assign(error, { code, severity });
}

const makeSystemError = (code: string) => Object.assign(new Error(code), { code, syscall: 'write', errno: -1 });

describe('isTransient', () => {
  test.each([
    ['a server that shuts down', makeDatabaseError('57P01', 'FATAL')],
    ['a server that starts', makeDatabaseError('57P03', 'FATAL')],
    ['too many connections', makeDatabaseError('53300', 'FATAL')],
    ['a full disk', makeDatabaseError('53100')],
    ['a deadlock', makeDatabaseError('40P01')],
    ['a database that takes no connections', makeDatabaseError('55000', 'FATAL')],
    ['a standby before its promotion', makeDatabaseError('25006')],
    ['a refused connection', makeSystemError('ECONNREFUSED')],
    ['a broken pipe, whose code is as long as an SQLSTATE', makeSystemError('EPIPE')],
    ['a connection that ended', new Error('Connection terminated unexpectedly')],
  ])('is true for %s', (_name, error) => {
    expect(isTransient(error)).toBe(true);
  });

  test.each([
    ['a value that a column cannot hold', makeDatabaseError('22021')],
    ['a check that fails', makeDatabaseError('23514')],
    ['a table that is not there', makeDatabaseError('42P01')],
    ['a statement that is too long for a string', new RangeError('Invalid string length')],
    ['a defect', new TypeError('cannot read properties of undefined')],
    ['what is no error', 'down'],
  ])('is false for %s', (_name, error) => {
    expect(isTransient(error)).toBe(false);
  });
});
