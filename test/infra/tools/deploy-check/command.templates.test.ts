import { describe, expect, it } from 'vitest';
import { queues } from '#functions/queues.ts';
import { type Answers, fail, json, refuse } from './answer-forms.ts';
import { callDeployCheck, parseRows, recordedOptions, runDeployCheck, toArguments } from './deploy-check.ts';
import { startRecordedAccount } from './recorded-account.ts';
import { allowAllBut, answerStacks, answerSubnets, recorded } from './recorded-answers.ts';

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

describe('npm run deploy:check', () => {
  it('finds nothing to mend in an account that is ready, and calls what its policy allows', async () => {
    const { code, rows, calls } = await check({}, {}, '--read-secrets');

    expect(rows.filter(({ state }) => state === 'mend' || state === 'not checked')).toEqual([]);
    expect(code).toBe(0);
    const text = rows.map(({ what, found }) => `${what}: ${found}`).join('\n');
    expect(text).toContain('CDK bootstrap: version 30; 6 is needed');
    expect(text).toMatch(/roles of IAM: 120 of 1000 used, \d+ needed/);
    const reserve = queues.find(({ name }) => name === 'operations')?.concurrency;
    expect(text).toContain(`980 not reserved by others, ${reserve} to be reserved`);
    expect(text).toContain('value of configSecretArn: is Spinnaker');
    const asked = calls.map((call) => call.replace(/^apigateway:Get\w+$/, 'apigateway:GET'));
    const policy = await callDeployCheck(['--print-policy', '--read-secrets'], {});
    const [{ Action }] = JSON.parse(policy.stdout).Statement;
    expect([...new Set([...asked, 'kms:Decrypt'])].sort()).toEqual(Action);
  });

  it('says all that is wrong at once, each with what to do', async () => {
    const table = json({ Table: { TableName: 'busdriver-prod-cache', TableStatus: 'ACTIVE' } });
    const { code, rows } = await check(
      {
        ...answerSubnets({ vpcId: 'vpc-0other' }),
        'dynamodb:DescribeTable': (body) =>
          body.includes('busdriver-prod-cache')
            ? table
            : fail('dynamodb:DescribeTable', 'ResourceNotFoundException'),
        ...allowAllBut('dynamodb:CreateTable'),
        ...answerStacks({ 'busdriver-prod-api': 'ROLLBACK_COMPLETE' }),
      },
      { certificateArn: recorded.certificateArn.replace('eu-west-1', 'us-east-1') },
    );

    expect(code).toBe(1);
    const mended = rows.filter(({ state }) => state === 'mend');
    expect(mended.map(({ what }) => what)).toEqual([
      'what CloudFormation must do',
      `subnetIds ${recorded.subnetIds[1]}`,
      'certificateArn',
      'stack busdriver-prod-api',
      'table busdriver-prod-cache',
    ]);
    expect(mended.filter(({ next = '' }) => next === '')).toEqual([]);
    expect(mended[0]?.found).toContain(
      'dynamodb:CreateTable on arn:aws:dynamodb:eu-west-1:111122223333:table/busdriver-prod-tasks',
    );
  });

  it('says what it may not see, and goes on', async () => {
    const refused = [
      'ec2:DescribeSubnets',
      'iam:SimulatePrincipalPolicy',
      'kms:DescribeKey',
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

  it('does not wait for ever for a service that hangs', async () => {
    const { rows } = await check({ 'acm:DescribeCertificate': 'hang' });
    const row = rows.find(({ what }) => what === 'certificateArn');
    expect(row).toMatchObject({
      state: 'not checked',
      found: 'acm:DescribeCertificate was not answered in time',
    });
    expect(rows.find(({ what }) => what === 'CDK bootstrap')?.state).toBe('ok');
  });

  it('prints a table for people', async () => {
    await using account = await startRecordedAccount({
      'ssm:GetParameter': fail('ssm:GetParameter', 'ParameterNotFound'),
    });
    const { code, stdout } = await runDeployCheck(toArguments(recordedOptions), account);

    expect(code).toBe(1);
    expect(stdout).toMatch(/^ {2}MEND +CDK bootstrap +CDK is not bootstrapped here$/m);
    expect(stdout).toMatch(/^ +→ npx cdk bootstrap aws:\/\/111122223333\/eu-west-1$/m);
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^1 to mend: \d+ ok, \d+ to know, \d+ not checked/);
  });

  it('needs credentials', async () => {
    await using account = await startRecordedAccount({
      'sts:GetCallerIdentity': fail('sts:GetCallerIdentity', 'InvalidClientTokenId', { status: 403 }),
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
    { args: ['-c', 'stage'], said: "--context: expected NAME=VALUE, not 'stage'" },
    { args: ['-c', '=x'], said: "--context: expected NAME=VALUE, not '=x'" },
    { args: ['--quickly'], said: "Unknown option '--quickly'" },
    { args: ['busdriver-prod-api'], said: "'busdriver-prod-api' is no option" },
    { args: ['-c', 'stage=Prod', '-c', 'color=red'], said: 'stage: expected lower-case letters' },
    { args: toArguments(recordedOptions), region: '', said: '--region: expected a region' },
  ])('refuses $args with 2', async ({ args, said, region }) => {
    const { code, stdout, stderr } = await callDeployCheck(args, { region });
    expect(code).toBe(2);
    expect(stderr).toContain(said);
    expect(stdout).toBe('');
  });

  it('prints its help', async () => {
    const { code, stdout } = await callDeployCheck(['--help'], {});
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: npm run deploy:check -- \[options\]$/m);
    expect(stdout).toMatch(/^ {2}-c, --context <NAME=VALUE> /m);
  });
});
