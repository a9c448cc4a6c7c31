import { expect, test } from 'vitest';
import { parseCliOptions } from '../../../infra/local/cli-options.ts';
import { formatReadyLine, formatReadyMessage } from '../../../infra/local/ready-message.ts';

function makeReady(leftOut: readonly { name: string; reason: string }[]) {
  const options = parseCliOptions(['--data-dir', '/data'], {});
  const engines = { dynamodb: 'http://d', sqs: 'http://s', eventbridge: 'http://e' };
  return { url: 'http://127.0.0.1:7002', engines, accounts: ['prod'], leftOut, options };
}

test('accounts that are left out are told of below everything else, with the reason', () => {
  const reason = "accounts[1].context: there is no context 'tset'";
  const lines = formatReadyMessage(makeReady([{ name: 'test', reason }])).split('\n');
  expect(lines.slice(-3)).toEqual([
    'One account is left out because of wrong settings. The files are read again within 10 seconds of a change:',
    `  test: ${reason}`,
    '',
  ]);
});

test('nothing is said of accounts left out where there are none', () => {
  expect(formatReadyMessage(makeReady([]))).toMatch(/Ctrl-C stops it\.\n$/);
});

test('of many the first are told, each on one line', () => {
  const many = Array.from({ length: 25 }, (_, index) => ({
    name: `a${index}`,
    reason: 'two\nlines \u001b[2J',
  }));
  const lines = formatReadyMessage(makeReady(many)).trimEnd().split('\n');
  expect(lines.at(-1)).toBe('  and 5 more: the log has them');
  expect(lines.at(-2)).toBe('  a19: two lines ');
});

test('the line for programs stays as it is', () => {
  expect(JSON.parse(formatReadyLine(makeReady([{ name: 'x', reason: 'y' }])))).not.toHaveProperty('leftOut');
});
