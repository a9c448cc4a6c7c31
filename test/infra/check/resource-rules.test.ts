import { describe, expect, it } from 'vitest';
import { judgeCluster, judgeLogRole, judgeRole, judgeTopic } from '../../../infra/check/account-resources.ts';
import { judgeRegion } from '../../../infra/check/arn.ts';
import { judgeBootstrap, judgeCaller, judgeToolkit } from '../../../infra/check/identity.ts';
import { judgeKey, judgeKeyPolicy } from '../../../infra/check/key.ts';
import { judgeInterfaces, judgeLeftovers, judgeStack } from '../../../infra/check/leftovers.ts';
import { judgeCallerRights, judgeExecutionRights } from '../../../infra/check/permissions.ts';
import { judgeSecret, judgeValue } from '../../../infra/check/secrets.ts';
import { recorded } from './recorded-answers.ts';
import { makeSubject } from './subjects.ts';

const subject = makeSubject();
const complete = { status: 'UPDATE_COMPLETE', reason: undefined };

describe('who asks, and CDK', () => {
  it('warns of the root user', () => {
    expect(judgeCaller('arn:aws:iam::111122223333:root').state).toBe('note');
    expect(judgeCaller('arn:aws:iam::111122223333:user/me').state).toBe('ok');
  });

  it.each([
    { version: undefined, state: 'mend' },
    { version: '5', state: 'mend' },
    { version: '6', state: 'ok' },
    { version: '30', state: 'ok' },
  ])('a bootstrap of version $version: $state', ({ version, state }) => {
    expect(judgeBootstrap(version, subject).state).toBe(state);
  });

  it.each([
    { status: undefined, state: 'note' },
    { status: 'CREATE_COMPLETE', state: 'ok' },
    { status: 'UPDATE_ROLLBACK_COMPLETE', state: 'ok' },
    { status: 'ROLLBACK_COMPLETE', state: 'mend' },
    { status: 'DELETE_FAILED', state: 'mend' },
  ])("CDK's stack in $status: $state", ({ status, state }) => {
    const stack = status === undefined ? undefined : { status, reason: 'why' };
    expect(judgeToolkit(stack, subject).state).toBe(state);
  });
});

describe('permissions', () => {
  const resource = 'arn:aws:sqs:eu-west-1:111122223333:busdriver-prod-operations';
  const call = { action: 'sqs:CreateQueue', resource };

  it('are never pretended where IAM simulates nothing', () => {
    expect(judgeCallerRights(undefined, subject).state).toBe('not checked');
  });

  it('say what is denied, and that it is a simulation', () => {
    const role = { subject, executionRole: 'arn:role' };
    const denied = judgeExecutionRights([{ ...call, isAllowed: false }], role);
    const told = expect.stringContaining(`${call.action} on ${call.resource}`);
    expect(denied).toMatchObject({ state: 'mend', found: told });
    const allowed = judgeExecutionRights([{ ...call, isAllowed: true }], role);
    expect(allowed).toMatchObject({ state: 'ok', found: expect.stringContaining('as IAM simulates it') });
    expect(judgeExecutionRights(undefined, role).state).toBe('mend');
  });
});

describe('judgeKey', () => {
  const facts = { state: 'Enabled', spec: 'SYMMETRIC_DEFAULT', usage: 'ENCRYPT_DECRYPT' };

  it.each([
    { change: {}, state: 'ok' },
    { change: { state: 'Disabled' }, state: 'mend' },
    { change: { state: 'PendingDeletion' }, state: 'mend' },
    { change: { spec: 'RSA_2048' }, state: 'mend' },
    { change: { usage: 'SIGN_VERIFY' }, state: 'mend' },
  ])('$change: $state', ({ change, state }) => {
    expect(judgeKey({ ...facts, ...change }).state).toBe(state);
  });

  it('has one mended that is not there', () => {
    expect(judgeKey(undefined).state).toBe('mend');
  });
});

describe('judgeKeyPolicy', () => {
  const root = 'arn:aws:iam::111122223333:root';
  const statement = { Effect: 'Allow', Principal: { AWS: root }, Action: 'kms:*', Resource: '*' };
  const judge = (one: object) =>
    judgeKeyPolicy(JSON.stringify({ Version: '2012-10-17', Statement: one }), subject).state;

  const of = (...AWS: readonly string[]) => [{ ...statement, Principal: { AWS } }];
  const Condition = { StringEquals: { 'kms:ViaService': 'x' } };
  it.each([
    ['as AWS makes it', 'ok', [statement]],
    ['with one statement, not in a list', 'ok', statement],
    ['with the account by its number', 'ok', of('111122223333')],
    ['of another account', 'mend', of('arn:aws:iam::999999999999:root')],
    ['that allows less', 'mend', [{ ...statement, Action: ['kms:Decrypt'] }]],
    ['that denies', 'mend', [{ ...statement, Effect: 'Deny' }]],
    ['under a condition', 'note', [{ ...statement, Condition }]],
  ])('a policy %s: %s', (_what, state, one) => {
    expect(judge(one)).toBe(state);
  });

  it.each(['', 'no JSON', '{}', '[]'])('has %j mended', (policy) => {
    expect(judgeKeyPolicy(policy, subject).state).toBe('mend');
  });
});

describe('secrets', () => {
  const { secretArn } = recorded;

  it.each([
    { facts: undefined, state: 'mend' },
    { facts: { deletedAt: new Date(0), keyId: undefined }, state: 'mend' },
    { facts: { deletedAt: undefined, keyId: 'arn:aws:kms:…' }, state: 'note' },
    { facts: { deletedAt: undefined, keyId: undefined }, state: 'ok' },
  ])('$facts: $state', ({ facts, state }) => {
    expect(judgeSecret(facts, secretArn).state).toBe(state);
  });

  it.each([
    { option: 'configSecretArn', text: 'kubernetes: {enabled: true}', state: 'ok' },
    { option: 'configSecretArn', text: '', state: 'ok' },
    { option: 'configSecretArn', text: 'kubernetes: [pa55word', state: 'mend' },
    { option: 'artifactsSecretArn', text: '{"a": pa55word"', state: 'mend' },
    { option: 'authorizerSecretArn', text: 'pa55word', state: 'mend' },
    { option: 'authorizerSecretArn', text: 'pa55word-pa55word', state: 'ok' },
  ] as const)('a value of $option is judged, and not told: $state', ({ option, text, state }) => {
    const finding = judgeValue(text, { option, arn: secretArn, profiles: ['local'] });
    expect(finding.state).toBe(state);
    expect(JSON.stringify(finding)).not.toContain('pa55word');
  });
});

describe('what options name', () => {
  it.each([
    { facts: undefined, state: 'mend' },
    { facts: { keyId: 'alias/aws/sns', subscriptions: 1 }, state: 'mend' },
    { facts: { keyId: undefined, subscriptions: 0 }, state: 'note' },
    { facts: { keyId: 'arn:aws:kms:…', subscriptions: 1 }, state: 'note' },
    { facts: { keyId: undefined, subscriptions: 1 }, state: 'ok' },
  ])('a topic with $facts: $state', ({ facts, state }) => {
    expect(judgeTopic(facts).state).toBe(state);
  });

  const logRole = { roleArn: 'arn:aws:iam::111122223333:role/logs', exists: true };
  it.each([
    { apiLogRole: 'create', facts: { roleArn: undefined, exists: false }, state: 'ok' },
    { apiLogRole: 'existing', facts: { roleArn: undefined, exists: false }, state: 'mend' },
    { apiLogRole: 'existing', facts: logRole, state: 'ok' },
    { apiLogRole: 'existing', facts: { ...logRole, exists: false }, state: 'mend' },
    { apiLogRole: 'create', facts: logRole, state: 'note' },
  ])('apiLogRole=$apiLogRole with $facts: $state', ({ apiLogRole, facts, state }) => {
    expect(judgeLogRole(facts, makeSubject({ options: { apiLogRole } })).state).toBe(state);
  });

  it.each([
    { status: undefined, state: 'mend' },
    { status: 'ACTIVE', state: 'ok' },
    { status: 'FAILED', state: 'mend' },
  ])('a cluster that is $status: $state', ({ status, state }) => {
    expect(judgeCluster(status).state).toBe(state);
  });

  it('tells a role of the same name and another path', () => {
    const deep = 'arn:aws:iam::111122223333:role/deep/busdriver-clusters';
    expect(judgeRole(deep, recorded.roleArn).state).toBe('mend');
    expect(judgeRole(recorded.roleArn, recorded.roleArn).state).toBe('ok');
  });

  it('must be in the region of the stacks', () => {
    expect(judgeRegion(recorded.topicArn, 'alarmTopicArn', subject)).toBeUndefined();
    const elsewhere = recorded.topicArn.replace('eu-west-1', 'us-east-1');
    const mended = { state: 'mend', next: '-c alarmTopicArn=… with one of eu-west-1' };
    expect(judgeRegion(elsewhere, 'alarmTopicArn', subject)).toMatchObject(mended);
  });
});

describe('leftovers', () => {
  it.each([
    { status: 'CREATE_COMPLETE', state: 'ok' },
    { status: 'UPDATE_COMPLETE', state: 'ok' },
    { status: 'UPDATE_ROLLBACK_COMPLETE', state: 'note' },
    { status: 'REVIEW_IN_PROGRESS', state: 'note' },
    { status: 'UPDATE_IN_PROGRESS', state: 'mend', next: 'wait' },
    { status: 'ROLLBACK_COMPLETE', state: 'mend', next: 'delete-stack' },
    { status: 'UPDATE_ROLLBACK_FAILED', state: 'mend', next: 'npx cdk rollback busdriver-prod-data' },
    { status: 'DELETE_FAILED', state: 'mend', next: 'describe-stack-events' },
  ])('a stack in $status: $state', ({ status, state, next = '' }) => {
    const finding = judgeStack('busdriver-prod-data', { ...complete, status });
    expect(finding.state).toBe(state);
    expect(finding.next ?? '').toContain(next);
  });

  it('name each table that is left, and count those beyond', () => {
    const names = Array.from({ length: 8 }, (_, index) => ({ name: `table-${index}` }));
    const findings = judgeLeftovers(names, (name) => `delete ${name}`);
    expect(findings).toHaveLength(6);
    const next = expect.stringContaining('delete table-0');
    expect(findings[0]).toMatchObject({ about: 'table-0', state: 'mend', next });
    expect(findings.at(-1)?.found).toBe('and 3 more');
    expect(judgeLeftovers([], () => '')).toEqual([{ state: 'ok', found: 'none' }]);
  });

  it('tell that the name of a deleted secret stays taken', () => {
    const left = [{ name: 'config', deletedAt: new Date(0) }];
    const [finding] = judgeLeftovers(left, (name) => `delete ${name}`);
    expect(finding?.next).toBe('delete config --force-delete-without-recovery, or another stage');
  });

  it('do not count interfaces that go by themselves as something to mend', () => {
    expect(judgeInterfaces(3).state).toBe('note');
    expect(judgeInterfaces(0).state).toBe('ok');
  });
});
