import { describe, expect, it } from 'vitest';
import { getList, getOptions } from '../assembly/option-sets.ts';
import { getFunctionStatements, getResources } from './policies.ts';
import { privateOptions, synthesize } from './synthesize.ts';

const set = 'private, endpoint of the operator: clusters, roles, secrets and images by prefix, not protected';
const [prefix = ''] = getList(set, 'repositoryArnPrefixes');
const [repositoryArn = ''] = getList(set, 'repositoryArns');

/** All rules of an installation, by name. */
function listRules(templates: ReturnType<typeof synthesize>) {
  return [...templates.values()].flatMap((template) =>
    [...getResources(template).values()].filter(({ Type }) => Type === 'AWS::Events::Rule'),
  );
}

describe('repositories of ECR', () => {
  const templates = synthesize(getOptions(set));
  const statements = getFunctionStatements(templates.values());

  it('may be read by functions that reach clusters, those alone that are named', () => {
    const granted = (statements.get('run-caching-agents') ?? []).flatMap(({ actions, resources }) =>
      actions.filter((action) => action.startsWith('ecr:')).map((action) => [action, [...resources].sort()]),
    );
    const named = [repositoryArn, `${prefix}*`];
    expect(granted.sort()).toEqual([
      ['ecr:BatchGetImage', named],
      ['ecr:DescribeImages', named],
      ['ecr:DescribeRepositories', named],
      ['ecr:GetAuthorizationToken', ['*']],
      ['ecr:GetDownloadUrlForLayer', named],
    ]);
  });

  it('may not be read by who reaches no clusters', () => {
    for (const name of ['schedule-agents', 'get-task', 'drop-agent-messages']) {
      const actions = (statements.get(name) ?? []).flatMap((statement) => statement.actions);
      expect(actions.length).toBeGreaterThan(0);
      expect(actions.filter((action) => action.startsWith('ecr:'))).toEqual([]);
    }
  });

  it('have their events sent to the queue of agents', () => {
    const patterns = listRules(templates).map(({ Properties }) => Properties);
    expect(patterns).toContainEqual(
      expect.objectContaining({
        Name: 'busdriver-dev-agents-ecr-events',
        EventPattern: {
          source: ['aws.ecr'],
          'detail-type': ['ECR Image Action'],
          account: ['123456789012', '210987654321'],
          region: ['us-east-1', 'us-west-2'],
          detail: { 'action-type': ['PUSH', 'DELETE'], result: ['SUCCESS'] },
        },
      }),
    );
    const rule = patterns.find((properties) => properties?.['Name'] === 'busdriver-dev-agents-ecr-events');
    const { queue, policy } = findQueue('busdriver-dev-agents');
    expect(rule?.['Targets']).toEqual([expect.objectContaining({ Arn: { 'Fn::GetAtt': [queue, 'Arn'] } })]);
    // They come as they are.
    expect(JSON.stringify(rule?.['Targets'])).not.toContain('Input');
    expect(JSON.stringify(policy)).toContain('"Service":"events.amazonaws.com"');
  });

  /** The logical id of a queue, and what may be done with it. */
  function findQueue(name: string) {
    const resources = [...templates.values()].flatMap((template) => [...getResources(template)]);
    const [queue = ''] = resources.find(([, { Properties }]) => Properties?.['QueueName'] === name) ?? [];
    const policies = resources.filter(([, { Type }]) => Type === 'AWS::SQS::QueuePolicy');
    const policy = policies.find(([, { Properties }]) =>
      JSON.stringify(Properties?.['Queues']).includes(queue),
    );
    return { queue, policy };
  }

  it('need neither rule nor grant where none is named', () => {
    const without = synthesize(privateOptions);
    expect(JSON.stringify(listRules(without))).not.toContain('aws.ecr');
    const actions = [...getFunctionStatements(without.values()).values()]
      .flat()
      .flatMap((each) => each.actions);
    expect(actions.filter((action) => action.startsWith('ecr:'))).toEqual([]);
  });
});
