import { expect, test } from 'vitest';
import { countAccounts } from '../../../../shared/runtime/events/agents-worker.ts';

test('alarms count accounts that are wrong, and no sections that are not served', () => {
  const rejectedAccounts = [
    { name: 'wrong', reason: 'kubernetes.accounts[0].kinds: expected a list' },
    { name: 'google', reason: 'google.accounts: not served', isUnserved: true },
  ];
  expect(countAccounts({ accounts: [], rejectedAccounts })).toEqual({ rejected: 1, all: 1 });
});
