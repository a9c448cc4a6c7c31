import { describe, expect, it } from 'vitest';
import { accountReads, secretValueRead } from '../../../infra/check/account-reads.ts';
import type { Row } from '../../../infra/check/rows.ts';
import { type Answers, fail, refuse } from './answer-forms.ts';
import { callDeployCheck, parseRows, recordedOptions, runDeployCheck, toArguments } from './deploy-check.ts';
import { startRecordedAccount } from './recorded-account.ts';
import { allowAllBut, ec2, recorded, toSubnet, withStacks } from './recorded-answers.ts';

const timeout = 120_000;

/** The report on a recorded account, and what was asked of it. */
async function check(
  changes: Answers,
  options: { readonly [name: string]: string } = {},
  ...flags: string[]
) {
  await using account = await startRecordedAccount(changes);
  const args = [...toArguments({ ...recordedOptions, ...options }), ...flags, '--json'];
  const result = await callDeployCheck(args, account);
  return { code: result.code, rows: parseRows(result), calls: account.calls };
}

const toMend = (rows: readonly Row[]) => rows.filter(({ state }) => state === 'mend');

describe('npm run deploy:check', () => {
  it('finds nothing to mend in an account that is ready, and only reads', { timeout }, async () => {
    const { code, rows, calls } = await check({}, {}, '--read-secrets');

    expect(rows.filter(({ state }) => state === 'mend' || state === 'not checked')).toEqual([]);
    expect(code).toBe(0);
    const text = rows.map(({ what, found }) => `${what}: ${found}`).join('\n');
    expect(text).toContain('CDK bootstrap: version 30; 6 is needed');
    expect(text).toContain('roles of IAM: 120 of 1000 used, ');
    expect(text).toContain('value of configSecretArn: is Spinnaker');
    const known = [...Object.values(accountReads), secretValueRead].map(({ action }) => action);
    const asked = [...new Set(calls)].map((call) => call.replace(/^apigateway:Get\w+$/, 'apigateway:GET'));
    expect(asked.filter((call) => !known.includes(call))).toEqual([]);
    expect(asked.length).toBeGreaterThan(30);
  });

  it('tells all that is wrong at once, each with what to do', { timeout }, async () => {
    const [first, second] = recorded.subnetIds;
    const { code, rows } = await check(
      {
        // One subnet is gone, and the other is of another VPC and full.
        'ec2:DescribeSubnets': ec2(
          'DescribeSubnets',
          `<subnetSet>${toSubnet(first, 'eu-west-1a', { vpcId: 'vpc-0other' })}</subnetSet>`,
        ),
        'secretsmanager:DescribeSecret': {
          body: JSON.stringify({ ARN: recorded.secretArn, DeletedDate: 1_767_225_600 }),
        },
        'dynamodb:DescribeTable': (body) =>
          body.includes('busdriver-prod-cache')
            ? {
                body: JSON.stringify({ Table: { TableName: 'busdriver-prod-cache', TableStatus: 'ACTIVE' } }),
              }
            : fail('dynamodb:DescribeTable', { code: 'ResourceNotFoundException', message: 'none' }),
        'sns:GetTopicAttributes': fail('sns:GetTopicAttributes', {
          code: 'NotFound',
          message: 'none',
          status: 404,
        }),
        ...allowAllBut('dynamodb:CreateTable'),
        ...withStacks({ 'busdriver-prod-api': 'ROLLBACK_COMPLETE' }),
      },
      { certificateArn: recorded.certificateArn.replace('eu-west-1', 'us-east-1') },
    );

    expect(code).toBe(1);
    const mended = toMend(rows);
    expect(mended.map(({ what }) => what)).toEqual(
      expect.arrayContaining([
        'what CloudFormation must do',
        `subnetIds ${first}`,
        `subnetIds ${second}`,
        'certificateArn',
        'configSecretArn spinnaker/clouddriver',
        'alarmTopicArn',
        'stack busdriver-prod-api',
        'table busdriver-prod-cache',
      ]),
    );
    expect(mended.filter(({ next = '' }) => next === '')).toEqual([]);
    expect(mended.find(({ what }) => what === 'certificateArn')?.found).toContain('is in us-east-1');
    expect(mended.find(({ what }) => what === 'what CloudFormation must do')?.found).toContain(
      'dynamodb:CreateTable on arn:aws:dynamodb:eu-west-1:111122223333:table/busdriver-prod-tasks',
    );
  });

  it('says what it may not see, and goes on', { timeout }, async () => {
    const refused = [
      'ec2:DescribeSubnets',
      'iam:SimulatePrincipalPolicy',
      'kms:GetKeyPolicy',
      'lambda:GetAccountSettings',
    ];
    const changes = Object.fromEntries(refused.map((operation) => [operation, refuse(operation)]));
    const { code, rows } = await check(changes);

    const unchecked = rows.filter(({ state }) => state === 'not checked');
    expect(new Set(unchecked.map(({ found }) => found))).toEqual(
      new Set(refused.map((operation) => `needs ${operation}`)),
    );
    expect(unchecked.find(({ what }) => what === 'subnetIds')?.next).toContain('allow ec2:DescribeSubnets');
    expect(rows.find(({ what }) => what === 'CDK bootstrap')?.state).toBe('ok');
    expect(code).toBe(0);
  });

  it('does not wait for ever for a service that hangs', { timeout }, async () => {
    const { rows } = await check({ 'acm:DescribeCertificate': 'hang' });
    const row = rows.find(({ what }) => what === 'certificateArn');
    expect(row).toMatchObject({
      state: 'not checked',
      found: 'acm:DescribeCertificate was not answered in time',
    });
    expect(rows.find(({ what }) => what === 'CDK bootstrap')?.state).toBe('ok');
  });

  it('prints a table for people', { timeout }, async () => {
    await using account = await startRecordedAccount({
      'ssm:GetParameter': fail('ssm:GetParameter', { code: 'ParameterNotFound', message: 'none' }),
    });
    const { code, stdout } = await runDeployCheck(toArguments(recordedOptions), account);

    expect(code).toBe(1);
    expect(stdout).toMatch(/^ {2}MEND +CDK bootstrap +CDK is not bootstrapped here$/m);
    expect(stdout).toMatch(/^ +→ npx cdk bootstrap aws:\/\/111122223333\/eu-west-1$/m);
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^1 to mend: \d+ ok, \d+ to know, \d+ not checked/);
  });

  it('needs credentials', { timeout }, async () => {
    await using account = await startRecordedAccount({
      'sts:GetCallerIdentity': fail('sts:GetCallerIdentity', {
        code: 'InvalidClientTokenId',
        message: 'The security token included in the request is invalid.',
        status: 403,
      }),
    });
    const { code, stdout, stderr } = await callDeployCheck(
      [...toArguments(recordedOptions), '--json'],
      account,
    );

    expect(code).toBe(1);
    expect(stderr, 'before the templates are written').toBe('');
    expect(JSON.parse(stdout)).toMatchObject({ rows: [{ what: 'who asks', state: 'mend' }] });
    expect(account.calls).toEqual(['sts:GetCallerIdentity']);
  });

  it.each([
    { args: ['-c', 'stage'], said: '--context: expected NAME=VALUE, not "stage"' },
    { args: ['--quickly'], said: "Unknown option '--quickly'" },
    { args: ['-c', 'stage=Prod', '-c', 'color=red'], said: 'stage: expected lower-case letters' },
    { args: toArguments(recordedOptions), region: '', said: '--region: expected a region' },
  ])('refuses $args with 2', { timeout }, async ({ args, said, region }) => {
    const { code, stdout, stderr } = await callDeployCheck(args, { region });
    expect(code).toBe(2);
    expect(stderr).toContain(said);
    expect(stdout).toBe('');
  });
});
