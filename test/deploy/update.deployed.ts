import { join } from 'node:path';
import { DescribeTableCommand, DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tables } from '#platform/aws/tables.ts';
import { variables } from '#platform/config.ts';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { localClientOptions } from '#test/support/engines/local-aws-client.ts';
import {
  configureDeployedSystem,
  type Deployment,
  getDeployment,
} from '#test/support/system/deployed-system.ts';
import { callRest } from './aws-calls.ts';
import { deployStacks } from './cdk.ts';
import { type AssemblyStack, applyChanges, readAssembly } from './change-sets.ts';
import { listApis } from './inventory.ts';
import { OperationStream } from './operation-stream.ts';
import { firstOptions, type PlannedStep, planSteps } from './option-steps.ts';
import { currentName, releasedName } from './update-assemblies.ts';

const stepTimeoutMs = 600_000;

/** What else of an option can be seen where the emulator does as it says, beside that everything goes on. */
const looks: { readonly [option: string]: (deployment: Deployment) => Promise<void> } = {
  logLevel: async (deployment) => {
    for (const name of ['get-task', 'start-operations', 'run-operations'])
      expect(await readVariable(deployment, name, variables.logLevel)).toBe('DEBUG');
  },
  profiles: async (deployment) =>
    expect(await readVariable(deployment, 'run-operations', variables.profiles)).toBe('local,prod'),
  agentIntervalSeconds: async (deployment) =>
    expect(await readVariable(deployment, 'schedule-agents', variables.agentIntervalSeconds)).toBe('120'),
  configSecretArn: async (deployment) =>
    expect(await readVariable(deployment, 'run-operations', variables.configSecretArn)).toBe(
      deployment.secrets.config,
    ),
  artifactsSecretArn: async (deployment) =>
    expect(await readVariable(deployment, 'fetch-artifact', variables.artifactsSecretArn)).toBe(
      deployment.secrets.artifacts,
    ),
  concurrency: async ({ endpoint, name }) => {
    const path = `/2015-03-31/event-source-mappings/?FunctionName=${name}-run-operations`;
    const answer = await callRest(endpoint, { service: 'lambda', method: 'GET', path });
    const ScalingConfig = { MaximumConcurrency: 5 };
    expect(answer).toMatchObject({ EventSourceMappings: [{ ScalingConfig }] });
  },
};

const exported = { Value: { Ref: 'Parameter' }, Export: { Name: 'locked' } };

function toStack(name: string, value: unknown, Outputs?: object): AssemblyStack {
  const Properties = { Type: 'String', Value: value };
  const Resources = { Parameter: { Type: 'AWS::SSM::Parameter', Properties } };
  return { name, template: JSON.stringify({ Resources, Outputs }), nested: new Map(), code: [] };
}

it('an export that another stack imports cannot be taken away: the emulator refuses it as CloudFormation does', async () => {
  const { endpoint } = getDeployment();
  const importing = toStack('importing', { 'Fn::ImportValue': 'locked' });
  await applyChanges(endpoint, [], [toStack('exporting', 'one', { exported }), importing]);

  const taken = applyChanges(endpoint, [], [toStack('exporting', 'one')]);

  await expect(taken).rejects.toThrow(
    /exporting: UPDATE_.*Cannot delete export locked as it is in use by importing/,
  );
});

// One installation, from the templates of an earlier release through every option, and never without work.
describeWithCluster('a deployed installation', (cluster) => {
  const deployment = getDeployment();
  const { endpoint, cdk, secrets } = deployment;
  const toFolder = (name: string) => join(deployment.assemblies, name);
  const resources = new AsyncDisposableStack();
  const steps = planSteps(secrets);
  let stream: OperationStream;
  let deployed: readonly AssemblyStack[];
  let kept: object;

  beforeAll(async () => {
    const namespace = resources.use(await createNamespace('update'));
    const proxy = resources.use(await startApiProxy(cluster, { getDelayMs: () => 100 }));
    resources.use(await configureDeployedSystem(deployment, { kubeconfig: proxy.kubeconfig }));
    await copySecret(endpoint, `${deployment.name}-config`, secrets.config);
    await copySecret(endpoint, `${deployment.name}-artifacts`, secrets.artifacts);
    kept = await findKept(deployment);
    stream = new OperationStream(deployment.url, namespace.name);
    deployed = await readAssembly(toFolder(releasedName));
    expect(JSON.stringify(deployed)).toContain('Fn::ImportValue');
  });

  afterAll(() => resources.disposeAsync());

  it(
    'made of templates with exports gets the present ones',
    async () => {
      await stream.waitForNext();
      await deployStacks(toFolder(currentName), cdk);
      deployed = await readAssembly(toFolder(currentName));
      expect(JSON.stringify(deployed)).not.toContain('Fn::ImportValue');
      await expectToWork(firstOptions);
    },
    stepTimeoutMs,
  );

  it.each(steps)(
    'gets another $option',
    async (step) => {
      const after = await readAssembly(toFolder(step.option));
      const startedAtMs = performance.now();
      const changed = await update(step, after);
      deployed = after;
      const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1);
      const remark = step.recorded === undefined ? '' : `; the emulator only records it: ${step.recorded}`;
      console.log(`${step.option}: ${seconds} s, ${changed.join(', ')}${remark}`);
      expect(changed).not.toEqual([]);
      await expectToWork(step.options);
      await looks[step.option]?.(deployment);
    },
    stepTimeoutMs,
  );

  it(
    'loses no operation that is accepted meanwhile, and does none twice',
    async () => {
      await stream.stop();
      const tasks = await Promise.all(stream.accepted.map(({ task }) => task));

      console.log(`${tasks.length} operations were accepted, ${stream.repeated} calls made again`);
      expect(tasks.length).toBeGreaterThan(2 * steps.length);
      expect(new Set(stream.accepted.map(({ id }) => id)).size).toBe(tasks.length);
      expect(tasks.filter(({ status }) => status.failed)).toEqual([]);
      expect(await stream.find()).toEqual(stream.getWanted());
    },
    stepTimeoutMs,
  );

  it('keeps its tables and its API', async () => {
    expect(await findKept(deployment)).toMatchObject(kept);
  });

  /**
   * By the command itself where there is new code to upload, and at the end, when stacks lose their protection, which no change set
   * does. @returns names of changed stacks
   */
  async function update(
    { option }: PlannedStep,
    after: readonly AssemblyStack[],
  ): Promise<readonly string[]> {
    const known = new Set(deployed.flatMap(({ code }) => code));
    const isNew = after.some(({ code }) => code.some((key) => !known.has(key)));
    if (!isNew && option !== steps.at(-1)?.option) return applyChanges(endpoint, deployed, after);
    await deployStacks(toFolder(option), cdk);
    const before = new Map(deployed.map(({ name, template }) => [name, template]));
    return after.filter(({ name, template }) => before.get(name) !== template).map(({ name }) => name);
  }

  /** Operations go on, accounts are shown, and strangers are shut out as far as the options say so. */
  async function expectToWork(options: PlannedStep['options']): Promise<void> {
    expect((await stream.waitForNext()).status).toMatchObject({ completed: true, failed: false });
    const known = await stream.fetch('/credentials');
    expect(await known.json()).toEqual([expect.objectContaining({ name: 'test' })]);
    const stranger = await stream.fetch('/credentials', { authorization: 'Bearer wrong' });
    expect(stranger.status).toBe(options['authentication'] === 'secret' ? 401 : 200);
  }
});

async function readVariable({ endpoint, name }: Deployment, row: string, variable: string): Promise<unknown> {
  const path = `/2015-03-31/functions/${name}-${row}/configuration`;
  const answer = await callRest(endpoint, { service: 'lambda', method: 'GET', path });
  const { Environment } = answer as { Environment: { Variables: { [name: string]: string } } };
  return Environment.Variables[variable];
}

/** What must stay the same: when tables were made, and by which id the API is reached. */
async function findKept({ endpoint, name }: Deployment): Promise<object> {
  const client = new DynamoDBClient({ ...localClientOptions, endpoint });
  try {
    // The release lacks some of the present ones.
    const { TableNames: present = [] } = await client.send(new ListTablesCommand({}));
    const names = tables.map((row) => `${name}-${row.name}`).filter((table) => present.includes(table));
    const found = names.map(async (table) => {
      const command = new DescribeTableCommand({ TableName: table });
      const { TableId, CreationDateTime } = (await client.send(command)).Table ?? {};
      return [table, { TableId, CreationDateTime }] as const;
    });
    const apis = (await listApis(endpoint)).map((api) => ({ id: api.id, name: api.name }));
    return { tables: Object.fromEntries(await Promise.all(found)), apis };
  } finally {
    client.destroy();
  }
}

async function copySecret(endpoint: string, from: string, to: string): Promise<void> {
  const client = new SecretsManagerClient({ ...localClientOptions, endpoint });
  try {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: from }));
    await client.send(new PutSecretValueCommand({ SecretId: to, SecretString }));
  } finally {
    client.destroy();
  }
}
