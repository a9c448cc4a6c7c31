import { expect, test } from 'vitest';
import type { AccountWarning } from '#accounts/model/account.ts';
import type { LogFields } from '#core/logger.ts';
import { createProblemLog, problemsLoggedMax, reasonLengthMax } from '#settings/live/settings-problems.ts';

function setUp() {
  const lines: { message: string; fields: LogFields }[] = [];
  const warn = (message: string, fields: LogFields = {}) => void lines.push({ message, fields });
  const log = createProblemLog({ warn });
  const tell = (
    accountWarnings: readonly AccountWarning[],
    rejectedAccounts: { name: string; reason: string }[] = [],
  ) => {
    log({ accountWarnings, rejectedAccounts });
    return lines.splice(0);
  };
  return { tell };
}

const setting = { message: 'unknown setting', reason: 'a: unknown' };
const key = { message: 'account with an unknown key', account: 'prod', reason: 'b: unknown' };

test('what is left out or of no effect is a warning', () => {
  const { tell } = setUp();
  expect(tell([setting, key], [{ name: 'hub', reason: 'c' }])).toEqual([
    { message: 'account left out', fields: { account: 'hub', reason: 'c' } },
    { message: 'unknown setting', fields: { reason: 'a: unknown' } },
    { message: 'account with an unknown key', fields: { account: 'prod', reason: 'b: unknown' } },
  ]);
});

test('a change of the settings tells what is new, and what has come back', () => {
  const { tell } = setUp();
  tell([setting]);
  expect(tell([setting])).toEqual([]);
  expect(tell([setting, key])).toMatchObject([{ message: key.message }]);
  expect(tell([key])).toEqual([]);
  expect(tell([setting, key])).toMatchObject([{ message: setting.message }]);
});

test('lines are bounded in number and length', () => {
  const { tell } = setUp();
  const many = Array.from({ length: 5_000 }, (_, index) => ({
    ...setting,
    reason: `${index}${'x'.repeat(10_000)}`,
  }));
  const lines = tell(many);
  expect(lines).toHaveLength(problemsLoggedMax + 1);
  expect(lines[0]?.fields.reason).toHaveLength(reasonLengthMax);
  expect(lines.at(-1)).toEqual({
    message: 'more of the settings is left out, or of no effect',
    fields: { count: 5_000 - problemsLoggedMax },
  });
  expect(tell(many)).toEqual([]);
});
