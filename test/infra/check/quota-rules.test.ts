import { describe, expect, it } from 'vitest';
import { queues } from '../../../functions/queues.ts';
import { routes } from '../../../functions/routes.ts';
import { NotReadError } from '../../../infra/check/account-reader.ts';
import { countConcurrency, judgeConcurrency, judgeStorage } from '../../../infra/check/concurrency.ts';
import { findResources, listTexts, planDeployment } from '../../../infra/check/deployment-plan.ts';
import { listNeededCalls } from '../../../infra/check/permissions.ts';
import { neededActions } from '../../../infra/check/permissions-data.ts';
import { judgeQuota } from '../../../infra/check/quota-rules.ts';
import { countApiResources } from '../../../infra/check/quotas.ts';
import { listNewStacks } from '../../../infra/check/subject.ts';
import { recordedOptions } from './deploy-check.ts';
import { makeSubject } from './subjects.ts';

describe('judgeQuota', () => {
  it.each([
    { facts: { limit: 10, used: 8, isWhole: true, needed: 2 }, state: 'ok' },
    { facts: { limit: 10, used: 9, isWhole: true, needed: 2 }, state: 'mend' },
    { facts: { limit: 10, used: 8, isWhole: false, needed: 2 }, state: 'note' },
    { facts: { limit: 10, used: 20, isWhole: false, needed: 2 }, state: 'mend' },
  ])('$facts: $state', ({ facts, state }) => {
    expect(judgeQuota(facts, 'ask for more').state).toBe(state);
  });
});

describe('judgeConcurrency', () => {
  const need = { reserved: 20, shared: 66 };

  it.each([
    ['an account as AWS makes them', 'ok', 1000, 1000, 0],
    ['a new account', 'mend', 10, 10, 0],
    ['an account that is just large enough', 'note', 120, 120, 0],
    ['one less', 'mend', 119, 119, 0],
    ['an upgrade', 'note', 120, 100, 20],
    ['what others have reserved', 'mend', 1000, 110, 0],
  ])('%s: %s', (...[, state, limit, unreserved, reservedByUs]) => {
    expect(judgeConcurrency({ limit, unreserved, reservedByUs }, need).state).toBe(state);
  });

  it('says with how many operations it would do', () => {
    const { next } = judgeConcurrency({ limit: 110, unreserved: 110, reservedByUs: 0 }, need);
    expect(next).toContain('-c concurrency=operations=10');
    expect(next).toContain('--quota-code L-B99A9384');
    const tiny = judgeConcurrency({ limit: 10, unreserved: 10, reservedByUs: 0 }, need);
    expect(tiny.next).not.toContain('concurrency=operations');
  });
});

it('storage of Lambda is compared in bytes', () => {
  expect(judgeStorage({ limit: 80e9, used: 79e9, needed: 1e9 }).state).toBe('ok');
  expect(judgeStorage({ limit: 80e9, used: 79.5e9, needed: 1e9 }).state).toBe('mend');
});

describe('the plan of a deploy', { timeout: 120_000 }, () => {
  const plan = planDeployment(recordedOptions);

  it('counts what the templates have', () => {
    const functions = listTexts(plan.stacks, 'AWS::Lambda::Function', 'FunctionName');
    expect(functions).toContain('busdriver-prod-run-operations');
    expect(functions.length).toBeGreaterThan(60);
    expect(listTexts(plan.stacks, 'AWS::DynamoDB::Table', 'TableName').sort()).toEqual([
      'busdriver-prod-accounts',
      'busdriver-prod-cache',
      'busdriver-prod-tasks',
    ]);
    const reserved = queues.find(({ name }) => name === 'operations')?.concurrency;
    expect(countConcurrency(plan.stacks).reserved).toBe(reserved);
  });

  it('counts a resource of the API for each step of its paths', () => {
    const steps = routes.flatMap(({ path }) => {
      const parts = path.split('/').slice(1);
      return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
    });
    steps.push('');
    expect(countApiResources(plan.stacks)).toBe(new Set(steps).size);
  });

  it('says of each type of resource what CloudFormation must be allowed', () => {
    const { domainName, certificateArn, vpcId, subnetIds, encryptionKeyArn } = recordedOptions;
    const other = planDeployment({
      ...{ publicApi: 'true', truststoreUri: 's3://trust/store.pem' },
      ...{ domainName, certificateArn, vpcId, subnetIds, encryptionKeyArn },
      authorizerSecretArn: recordedOptions['configSecretArn'],
    });
    const types = [plan, other].flatMap(({ stacks }) =>
      stacks.flatMap(({ resources }) => resources.map(({ type }) => type)),
    );
    expect([...new Set(types)].filter((type) => neededActions[type] === undefined)).toEqual([]);
    expect(listNeededCalls(plan, (resource) => resource)).toContainEqual({
      action: 'dynamodb:CreateTable',
      resource: 'dynamodb:table/busdriver-prod-tasks',
    });
  });

  it('leaves out what is deployed, and counts again what was taken back', () => {
    const stacks = plan.stacks;
    const toInstalled = (status: string) =>
      Object.fromEntries(stacks.map(({ name }) => [name, { status, reason: undefined }]));
    const left = (status: string) =>
      findResources(listNewStacks(makeSubject({ stacks, installed: toInstalled(status) })), 'AWS::IAM::Role')
        .length;
    expect(left('UPDATE_COMPLETE')).toBe(0);
    expect(left('ROLLBACK_COMPLETE')).toBeGreaterThan(60);
    expect(() => listNewStacks({ ...makeSubject({ stacks }), installed: undefined })).toThrow(NotReadError);
  });
});
