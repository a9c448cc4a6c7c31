import { describe, expect, it } from 'vitest';
import { queues } from '#functions/queues.ts';
import { routes } from '#functions/routes.ts';
import { accountFactsPartition, healthPartition, lookupPartitions } from '#platform/aws/tables.ts';
import { getList, getOptions } from '../assembly/option-sets.ts';
import { getFunctionStatements, type Statement } from './policies.ts';
import { synthesize } from './synthesize.ts';

const set = 'private, endpoint of the operator: three hundred clusters by name';
const roleArns = getList(set, 'accountRoleArns');
const clusterArns = getList(set, 'clusterArns');
const [secretArn = ''] = getList(set, 'accountSecretArns');

const statements = getFunctionStatements(synthesize(getOptions(set)).values());

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

describe('what all functions know of the accounts', () => {
  it('is said by one function alone', () => {
    const writing = [...statements].filter(([, all]) =>
      all.some(
        ({ effect, actions, resources, leadingKeys }) =>
          effect === 'Allow' &&
          leadingKeys === undefined &&
          actions.includes('dynamodb:PutItem') &&
          resources.some((one) => /cache/i.test(one)),
      ),
    );
    const allowed = writing.filter(
      ([, all]) =>
        !all.some(
          ({ effect, leadingKeys }) => effect === 'Deny' && leadingKeys?.join() === accountFactsPartition,
        ),
    );
    expect(writing.length).toBeGreaterThan(3);
    expect(allowed.map(([name]) => name)).toEqual(['schedule-agents']);
  });
});

function isLookupDenial({ effect, leadingKeys }: Statement): boolean {
  return effect === 'Deny' && leadingKeys?.join() === `${lookupPartitions}*`;
}
