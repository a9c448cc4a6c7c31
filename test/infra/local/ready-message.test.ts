import { expect, test } from 'vitest';
import type { AccountWarning } from '#accounts/model/account.ts';
import { parseCliOptions } from '#infra/local/cli-options.ts';
import { formatReadyLine, formatReadyMessage } from '#infra/local/ready-message.ts';

function makeReady(
  leftOut: readonly { name: string; reason: string }[],
  doubts: readonly AccountWarning[] = [],
) {
  const options = parseCliOptions(['--data-dir', '/data'], {});
  return { url: 'http://127.0.0.1:7002', accounts: ['prod'], leftOut, doubts, options };
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

test('settings that may be meant otherwise are told of last', () => {
  const reason = "kubernetes.accounts[0].namspaces: unknown, and of no effect: did you mean 'namespaces'?";
  const doubt = { message: 'account with an unknown key', account: 'prod', reason };
  const lines = formatReadyMessage(makeReady([{ name: 'test', reason: 'x' }], [doubt])).split('\n');
  expect(lines.slice(-4)).toEqual(['  test: x', 'One setting may not be as meant:', `  prod: ${reason}`, '']);
  const many = Array.from({ length: 22 }, () => ({ ...doubt, reason: 'two\nlines \u001b[2J' }));
  const text = formatReadyMessage(makeReady([], many));
  expect(text).toContain('22 settings may not be as meant:\n  prod: two lines \n');
  expect(text.trimEnd()).toMatch(/and 2 more: the log has them$/);
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
