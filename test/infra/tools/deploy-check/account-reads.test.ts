import { expect, it } from 'vitest';
import { openAccount, toReaderPolicy } from '#infra/tools/deploy-check/account-reads.ts';
import { loadSourceFiles } from '#test/architecture/source-files.ts';

it('the check calls no operation of AWS that writes, for whoever runs it needs permissions to read alone', () => {
  const actions = toReaderPolicy(openAccount({}), true).Statement.flatMap(({ Action }) => Action);
  // API Gateway's actions are methods of HTTP; a secret with a key of its own is decrypted.
  const reading = /:(Get|List|Describe|Simulate)|^apigateway:GET$|^kms:Decrypt$/;
  expect(actions.filter((action) => !reading.test(action))).toEqual([]);
  expect(actions.length).toBeGreaterThan(20);
});

it('the check calls AWS by this list alone', () => {
  const callers = loadSourceFiles()
    .filter(
      ({ path, text }) => path.startsWith('infra/tools/deploy-check/') && /^import \{.*@aws-sdk/m.test(text),
    )
    .map(({ path }) => path);
  expect(callers).toEqual(['infra/tools/deploy-check/account-reads.ts']);
});

it('the policy has the values of secrets only for whoever wants them read', () => {
  const [{ Action } = { Action: [] }] = toReaderPolicy(openAccount({}), false).Statement;
  expect(Action).not.toContain('secretsmanager:GetSecretValue');
  expect(Action).not.toContain('kms:Decrypt');
});
