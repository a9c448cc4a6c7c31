import { expect, test } from 'vitest';
import { areOthersDead, countAccounts } from '#caching/events/caching-agents-worker.ts';

test('alarms count accounts that are wrong, and no sections that are not served', () => {
  const rejectedAccounts = [
    { name: 'wrong', reason: 'kubernetes.accounts[0].kinds: expected a list' },
    { name: 'google', reason: 'google.accounts: not served', isUnserved: true },
  ];
  expect(countAccounts({ accounts: [], rejectedAccounts })).toEqual({ rejected: 1, all: 1 });
});

test.each([
  { placement: 'local', isReplicated: false, turns: 0, dead: true },
  { placement: 'local', isReplicated: false, turns: 1, dead: false },
  { placement: 'local', isReplicated: true, turns: 0, dead: false },
  { placement: 'deployed', isReplicated: false, turns: 0, dead: false },
] as const)(
  'a process takes others for dead when it begins alone on a machine: $placement, replicated $isReplicated, turn $turns',
  ({ dead, turns, ...config }) => {
    expect(areOthersDead(config, turns)).toBe(dead);
  },
);
