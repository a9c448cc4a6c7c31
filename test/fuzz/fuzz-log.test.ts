import { describe, expect, it } from 'vitest';
import { parseFuzzLog } from './fuzz-log.ts';

const failure = {
  failure: 'GET /task/{id}',
  check: 'ServerError',
  message: 'Server error: ',
  status: 500,
  answer: '{}',
};

function toLog(...entries: readonly object[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
}

describe('the log of a fuzz run', () => {
  it('counts calls by route and status', () => {
    const log = parseFuzzLog(
      toLog(
        { call: 'GET /task/{id}', phase: 'fuzzing', status: 404 },
        { call: 'GET /health', phase: 'fuzzing', status: 200 },
        { call: 'GET /task/{id}', phase: 'stateful', status: 200 },
        { call: 'GET /task/{id}', phase: 'fuzzing', status: 404 },
      ),
    );
    expect(log).toEqual({
      calls: 4,
      operations: {
        'GET /health': { calls: 1, statuses: { 200: 1 } },
        'GET /task/{id}': { calls: 3, statuses: { 200: 1, 404: 2 } },
      },
      failures: [],
    });
  });

  it('tells a failure once, with its shortest request', () => {
    const { failures } = parseFuzzLog(
      toLog(
        { ...failure, curl: 'curl long' },
        { ...failure, curl: 'curl' },
        { ...failure, curl: 'curl longer' },
        { ...failure, check: 'UndefinedStatusCode', status: 418, curl: 'curl tea' },
      ),
    );
    expect(failures.map(({ check, curl, count }) => [check, curl, count])).toEqual([
      ['ServerError', 'curl', 3],
      ['UndefinedStatusCode', 'curl tea', 1],
    ]);
  });

  it('may be empty', () => {
    expect(parseFuzzLog('')).toEqual({ calls: 0, operations: {}, failures: [] });
  });

  it('is refused when a line is cut off', () => {
    expect(() => parseFuzzLog('{"call": "GET /hea')).toThrow(SyntaxError);
  });
});
