import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { queues } from '#functions/queues.ts';
import { toFunctionEnvironment } from '#infra/local/environment.ts';
import { tables } from '#platform/aws/tables.ts';
import type { FunctionsMessage } from '#test/lab/functions-main.ts';
import type { OneEngineMessage } from '#test/lab/one-engine-main.ts';
import { OrcaCaller } from '#test/lab/orca-caller.ts';
import { type LabProcess, startLabProcess } from '#test/lab/processes.ts';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { localClientOptions } from '#test/support/engines/local-aws-client.ts';
import { createRandom } from '#test/support/run/seeded-random.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';

const busName = 'busdriver';
const replicas = 3;
const operations = 24;

/** A process that can be killed and started again where it was. */
class Restarted<First extends { readonly url: string }> implements AsyncDisposable {
  readonly #start: (port: number) => Promise<LabProcess<First>>;
  #running: LabProcess<First> | undefined;

  constructor(start: (port: number) => Promise<LabProcess<First>>) {
    this.#start = start;
  }

  get url(): string {
    return this.#running?.first.url ?? '';
  }

  /** Kills what runs, and starts it on the same port. */
  async restart(): Promise<void> {
    const port = this.#running === undefined ? 0 : Number(new URL(this.url).port);
    await this.#running?.kill();
    this.#running = await this.#start(port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running?.kill();
  }
}

describeWithCluster('three replicas on a DynamoDB and an SQS in processes of their own', (cluster) => {
  it('complete what was accepted, though one of each role is killed', async () => {
    await using stack = new AsyncDisposableStack();
    const dir = stack.use(await makeTempDir());
    const namespace = stack.use(await createNamespace('dying'));
    const startEngine = async (service: string, place: string) => {
      const logFile = join(dir.path, `${service}.log`);
      const engine = new Restarted<OneEngineMessage>((port) =>
        startLabProcess({ module: 'one-engine-main.ts', args: [service, place, String(port)], logFile }),
      );
      await stack.use(engine).restart();
      return engine;
    };
    const dynamodb = await startEngine('dynamodb', join(dir.path, 'data'));
    const sqs = await startEngine('sqs', 'none');
    const bus = await startEngine('eventbridge', busName);
    const config = join(dir.path, 'clouddriver.yml');
    const account = { name: 'test', kubeconfigFile: cluster.kubeconfig, namespaces: [namespace.name] };
    await writeFile(config, JSON.stringify({ kubernetes: { enabled: true, accounts: [account] } }));
    const settings = {
      configFiles: [config],
      profiles: [],
      kubeconfig: undefined,
      logLevel: 'INFO',
    } as const;
    const engines = { dynamodb: dynamodb.url, sqs: sqs.url, eventbridge: bus.url };
    const { credentials } = localClientOptions;
    const env = toFunctionEnvironment({ settings, engines, credentials, tables, queues, busName });
    const startReplica = async (index: number) => {
      const logFile = join(dir.path, `functions-${index}.log`);
      const args = ['5'];
      return stack.use(
        await startLabProcess<FunctionsMessage>({ module: 'functions-main.ts', args, env, logFile }),
      );
    };
    const running = await Promise.all(Array.from({ length: replicas }, (_, index) => startReplica(index)));

    const caller = new OrcaCaller({
      getUrls: () => running.map(({ first }) => first.url),
      random: createRandom(1),
      signal: AbortSignal.timeout(240_000),
    });
    const deploy = async (name: string) => {
      const operation = toDeploy('test', namespace.name, [name]);
      const id = await caller.post([operation], `${namespace.name}-${name}`);
      return id === undefined ? undefined : caller.awaitEnd(id);
    };
    const deploys = Array.from({ length: operations }, (_, index) => deploy(`settings-${index}`));
    await running[0]?.kill();
    await dynamodb.restart();
    await sqs.restart();
    const later = Array.from({ length: operations }, (_, index) => deploy(`later-${index}`));

    const tasks = await Promise.all([...deploys, ...later]);
    expect(tasks.filter((task) => task?.status.failed !== false)).toEqual([]);
    expect(caller.wrongs).toEqual([]);
    const list = await requestApi('GET', `/api/v1/namespaces/${namespace.name}/configmaps`);
    const { items } = list as { items: { metadata: { name: string } }[] };
    const names = items
      .map(({ metadata }) => metadata.name)
      .filter((name) => /^(settings|later)-/.test(name));
    expect(names).toHaveLength(2 * operations);
  });
});
