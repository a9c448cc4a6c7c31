import { describe, expect, it } from 'vitest';
import { getPath } from '#core/json.ts';
import { getOptions } from '../assembly/option-sets.ts';
import { getFunctionStatements, getResources } from './policies.ts';
import { synthesize } from './synthesize.ts';

const secret = (name: string): string =>
  `arn:aws:secretsmanager:us-east-1:123456789012:secret:${name}-AbCdEf`;

/** Functions that call clusters. */
const reachClusters = [
  'cancel-job',
  'create-provider',
  'get-cluster-scoped-manifest',
  'get-console-output',
  'get-dynamic-manifest',
  'get-job',
  'get-job-details',
  'get-job-file',
  'get-manifest',
  'get-pod-file',
  'list-cluster-manifests',
  'refresh-cache',
  'run-agent-streams',
  'run-caching-agents',
  'run-operations',
  // Token brokers are asked, whose keys are secrets.
  'save-provider',
];

/** Functions that take definitions of accounts, or show them. */
const referToSecrets = [
  'create-account',
  'list-account-definitions',
  'list-providers',
  'save-account',
  'update-account',
];

/**
 * Who may read which secret: all that there is. A function that is not named here reads none; a new one that must read some belongs
 * here, with the reason why account facts do not do.
 */
const readers: { readonly [name: string]: readonly string[] } = {
  // Inline kubeconfigs, roles of EKS clusters. `schedule-agents` publishes what the others may know.
  settings: [...reachClusters, 'schedule-agents'],
  // Passwords and tokens of artifact accounts.
  artifacts: ['fetch-artifact', 'list-artifact-names', 'list-artifact-versions', 'schedule-agents'],
  // Kubeconfigs in secrets of their own.
  kubeconfig: reachClusters,
  // What callers must send.
  caller: ['check-shared-secret'],
};

const templates = synthesize(getOptions('private, endpoint of the operator: all that the operator may name'));
const statements = getFunctionStatements(templates.values());

/** The functions that some allowing statement of theirs makes one of those looked for. */
function findFunctions(
  isMeant: (actions: readonly string[], resources: readonly string[]) => boolean,
): string[] {
  return [...statements]
    .filter(([, all]) =>
      all.some(({ effect, actions, resources }) => effect === 'Allow' && isMeant(actions, resources)),
    )
    .map(([name]) => name)
    .sort();
}

describe('a secret', () => {
  it.each(Object.keys(readers))('%s is read by these functions, and by no other', (name) => {
    const isReader = (actions: readonly string[], resources: readonly string[]) =>
      actions.includes('secretsmanager:GetSecretValue') && resources.includes(secret(name));
    expect(findFunctions(isReader)).toEqual([...(readers[name] ?? [])].sort());
  });

  it('of an account tells its roles to who reads it, and to who decides whose accounts may refer to it', () => {
    const isAsked = (actions: readonly string[], resources: readonly string[]) =>
      actions.includes('secretsmanager:DescribeSecret') && resources.includes(secret('kubeconfig'));
    expect(findFunctions(isAsked)).toEqual([...reachClusters, ...referToSecrets].sort());
  });

  it('other than these is read by nobody, and nothing is done with one but reading', () => {
    const known = Object.keys(readers).map(secret);
    const all = [...statements.values()].flat().filter(({ actions }) => actions.some(isOfSecrets));
    expect(new Set(all.flatMap(({ actions }) => actions))).toEqual(
      new Set(['secretsmanager:GetSecretValue', 'secretsmanager:DescribeSecret']),
    );
    expect(new Set(all.flatMap(({ resources }) => resources))).toEqual(new Set(known));
  });

  it('is known to few: to 20 functions of 78, and to the authorizer its own', () => {
    const named = new Set(Object.values(readers).flat());

    // A new function may be among them or not; the table above, and docs/stacks.md, say which.
    expect(statements.size).toBeGreaterThanOrEqual(79);
    expect(named.size).toBe(20 + 1);
  });

  it.each([
    ['settings', 'BUSDRIVER_CONFIG_SECRET_ARN'],
    ['artifacts', 'BUSDRIVER_ARTIFACTS_SECRET_ARN'],
    ['caller', 'BUSDRIVER_AUTHORIZER_SECRET_ARN'],
  ])('%s is named to no function that may not read it', (name, variable) => {
    const told = [...templates.values()]
      .flatMap((template) => [...getResources(template).values()])
      .filter(({ Properties }) => getPath(Properties, 'Environment', 'Variables', variable) !== undefined)
      .map(({ Properties }) => String(Properties['FunctionName']).replace('busdriver-dev-', ''));
    expect(told.sort()).toEqual([...(readers[name] ?? [])].sort());
  });
});

describe('the key of tables and secrets', () => {
  const uses = (name: string) =>
    (statements.get(name) ?? []).filter(({ actions }) => actions.some((one) => one.startsWith('kms:')));

  it('opens secrets for those alone that may read one of ours', () => {
    const viaSecrets = [...statements.keys()].filter((name) =>
      uses(name).some(({ viaServices }) => viaServices?.includes('secretsmanager')),
    );
    expect(viaSecrets.sort()).toEqual([...new Set([...at('settings'), ...at('artifacts')])].sort());
  });

  it('is used by way of a service only, and opens no more than secrets and tables', () => {
    const services = [...statements.keys()].flatMap((name) =>
      uses(name).flatMap(({ viaServices }) => viaServices ?? [`${name}: any`]),
    );
    expect(new Set(services)).toEqual(new Set(['dynamodb', 'secretsmanager']));
  });

  it('is used by way of services under both of their names, for those of China have others', () => {
    const texts = [...templates.values()].map((template) => JSON.stringify(template.toJSON()));
    const conditions = texts.flatMap((text) => text.match(/"kms:ViaService":\[.*?\]\]\}\]/g) ?? []);
    expect(conditions.length).toBeGreaterThan(30);
    for (const condition of conditions) {
      expect(condition).toContain('.amazonaws.com"');
      expect(condition).toContain('{"Ref":"AWS::URLSuffix"}');
    }
  });

  it('opens secrets for reading, never to write', () => {
    const actions = [...statements.keys()].flatMap((name) =>
      uses(name)
        .filter(({ viaServices }) => viaServices?.includes('secretsmanager'))
        .flatMap((statement) => statement.actions),
    );
    expect(new Set(actions)).toEqual(new Set(['kms:Decrypt']));
  });
});

function at(name: string): readonly string[] {
  return readers[name] ?? [];
}

function isOfSecrets(action: string): boolean {
  return action.startsWith('secretsmanager:');
}
