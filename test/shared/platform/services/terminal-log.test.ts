import { expect, test } from 'vitest';
import type { LogLevel } from '#platform/config.ts';
import { createTerminalLogger } from '#platform/services/terminal-log.ts';

/** A log at half past four, and its lines. */
function makeLog(logLevel: LogLevel = 'INFO') {
  const lines: string[] = [];
  const log = createTerminalLogger({
    logLevel,
    write: (line) => void lines.push(line),
    toFields: (fields = {}) => ({ awsRequestId: 'nobody asks', ...fields }),
    now: () => new Date('2026-11-22T16:30:05.123Z'),
  });
  return { log, lines };
}

test('a line has time, level, message and what belongs to it', () => {
  const { log, lines } = makeLog();
  log.info('task accepted', { taskId: 'A1', account: 'prod', count: 2, missing: undefined });
  log.warn('account left out', { account: 'b', reason: 'its "context" is missing' });
  log.error('a function failed', { error: { name: 'Error', message: 'no', stack: 'Error: no\n    at x' } });
  expect(lines).toEqual([
    '16:30:05 INFO  task accepted  taskId=A1  account=prod  count=2',
    String.raw`16:30:05 WARN  account left out  account=b  reason="its \"context\" is missing"`,
    '16:30:05 ERROR a function failed  error=no',
  ]);
});

test('milliseconds are durations or times, records of the audit are words, and each warning comes once', () => {
  const { log, lines } = makeLog();
  const nowMs = Date.parse('2026-11-22T16:30:05.123Z');
  log.info('times', {
    waitedMs: 350,
    durationMs: 95_000,
    untilMs: nowMs + 600_000,
    sinceMs: nowMs - 7_200_000,
  });
  const audit = { action: 'startOperations', outcome: 'allowed', status: 200, user: 'ada', account: 'prod' };
  log.info('audit', { audit: { ...audit, operations: ['deployManifest', 'scaleManifest'] } });
  log.info('audit', {
    audit: {
      action: 'readSecret',
      outcome: 'refused',
      name: 'secret a\nb',
      location: 'web',
      reason: 'no right',
    },
  });
  for (const account of ['a', 'b', 'a']) log.warn('setting of no effect', { account });
  expect(lines.map((line) => line.slice('16:30:05 '.length))).toEqual([
    'INFO  times  waited=350ms  duration=95s  until=in 10m  since=2h ago',
    'INFO  audit  ada: deployManifest,scaleManifest in prod, allowed',
    'INFO  audit  nobody known: readSecret of secret a b at web, refused: no right',
    'WARN  setting of no effect  account=a',
    'WARN  setting of no effect  account=b',
  ]);
});

test('lines below the level are not shown', () => {
  const { log, lines } = makeLog('WARN');
  log.debug('d');
  log.info('i');
  log.warn('w');
  log.error('e');
  expect(lines).toEqual(['16:30:05 WARN  w', '16:30:05 ERROR e']);
  const silent = makeLog('SILENT');
  silent.log.error('e');
  expect(silent.lines).toEqual([]);
});

test('what others named is one line, of bounded length, and moves no cursor', () => {
  const { log, lines } = makeLog();
  log.info('m', { user: '\u001b[2Jada\r\n16:30:05 INFO  forged', long: 'x'.repeat(1_000_000) });
  expect(lines[0]).toMatch(/^16:30:05 INFO {2}m {2}user="ada 16:30:05 INFO {2}forged" {2}long=x{300}$/);
});
