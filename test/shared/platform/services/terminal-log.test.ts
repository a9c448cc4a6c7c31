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
