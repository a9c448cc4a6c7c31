import { describe, expect, it } from 'vitest';
import { queues } from '../../../functions/queues.ts';
import { routes } from '../../../functions/routes.ts';
import { healthPartition, lookupPartitions } from '../../../shared/aws/tables.ts';
import { getFunctionStatements, type Statement } from './policies.ts';
import { privateOptions, synthesize } from './synthesize.ts';

/** 300 EKS clusters in 20 AWS accounts: each account has a role, which may look up its 15 clusters. */
const roleArns = Array.from(
  { length: 20 },
  (_, index) => `arn:aws:iam::${222_200_000_000 + index}:role/spinnaker/deployer`,
);
const clusterArns = Array.from(
  { length: 300 },
  (_, index) =>
    `arn:aws:eks:eu-west-1:${222_200_000_000 + (index % 20)}:cluster/team-${index % 60}-production-${index}`,
);
const secretArn = 'arn:aws:secretsmanager:us-east-1:123456789012:secret:spinnaker/edge-AbCdEf';

const statements = getFunctionStatements(
  synthesize({
    ...privateOptions,
    accountRoleArns: roleArns.join(),
    clusterArns: clusterArns.join(),
    accountSecretArns: secretArn,
  }).values(),
);

/** Functions that call clusters. */
const reaching = [...routes, ...queues]
  .filter(({ reaches }) => reaches === 'cluster')
  .map(({ module }) => module.slice(module.lastIndexOf('/') + 1));

const accountActions = ['sts:AssumeRole', 'eks:DescribeCluster', 'secretsmanager:GetSecretValue'];

function findAllowed(name: string, action: string): readonly Statement[] {
  return (statements.get(name) ?? []).filter(
    ({ effect, actions }) => effect === 'Allow' && actions.includes(action),
  );
}

function listResources(name: string, action: string): string[] {
  return findAllowed(name, action)
    .flatMap(({ resources }) => resources)
    .sort();
}

describe('300 clusters over 20 roles', () => {
  it.each([...new Set(reaching)])(
    '%s may assume these roles and look up these clusters, each once',
    (name) => {
      expect(listResources(name, 'sts:AssumeRole')).toEqual([...roleArns].sort());
      expect(listResources(name, 'eks:DescribeCluster')).toEqual([...clusterArns].sort());
      expect(listResources(name, 'secretsmanager:GetSecretValue')).toContain(secretArn);
    },
  );

  it.each([...new Set(reaching)])('%s shares what it looked up, and writes nothing else by that', (name) => {
    const sharing = findAllowed(name, 'dynamodb:PutItem').filter(
      ({ leadingKeys }) => leadingKeys !== undefined,
    );
    expect(sharing).toMatchObject([
      {
        actions: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
        leadingKeys: [`${lookupPartitions}*`, healthPartition],
      },
    ]);
  });

  it('are for no other function', () => {
    const others = [...statements.keys()].filter((name) => !reaching.includes(name));
    const granted = others.filter((name) =>
      accountActions.some((action) =>
        findAllowed(name, action).some(({ resources }) =>
          resources.some((resource) => [...roleArns, ...clusterArns, secretArn].includes(resource)),
        ),
      ),
    );
    expect(others.length).toBeGreaterThan(50);
    expect(granted).toEqual([]);
  });

  it('are not told to be elsewhere by functions that reach none', () => {
    const isWrite = (action: string): boolean => /^dynamodb:(Put|Update|Delete)Item$/.test(action);
    const mayWrite = [...statements].filter(([name, all]) => {
      const isAbout = ({ leadingKeys }: Statement): boolean =>
        leadingKeys === undefined || leadingKeys.some((key) => key.startsWith(lookupPartitions));
      const writes = all.filter(
        ({ actions, resources }) => actions.some(isWrite) && resources.some((one) => /cache/i.test(one)),
      );
      const isDenied = writes.some((one) => one.effect === 'Deny' && isAbout(one));
      return (
        !reaching.includes(name) && !isDenied && writes.some((one) => one.effect === 'Allow' && isAbout(one))
      );
    });
    const denied = [...statements].filter(([, all]) => all.some(isLookupDenial)).map(([name]) => name);
    expect(mayWrite.map(([name]) => name)).toEqual([]);
    expect(denied).toEqual(['schedule-agents']);
  });
});

function isLookupDenial({ effect, leadingKeys }: Statement): boolean {
  return effect === 'Deny' && leadingKeys?.join() === `${lookupPartitions}*`;
}
