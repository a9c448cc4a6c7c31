import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SQSClient } from '@aws-sdk/client-sqs';
import { queues } from '#functions/queues.ts';
import type { Use } from '#functions/route.ts';
import { routes } from '#functions/routes.ts';
import { schedules } from '#functions/schedules.ts';
import { getBundles } from '#infra/aws/bundling/bundles.ts';
import { toQueueUrl } from '#infra/local/engines/sqs/queue-engine.ts';
import { toFunctionEnvironment } from '#infra/local/environment.ts';
import { startHttp } from '#infra/server/front-door/http.ts';
import { toEventSources } from '#infra/server/functions/event-sources.ts';
import { type Handler, Invoker } from '#infra/server/functions/invoker.ts';
import { startScheduler } from '#infra/server/functions/scheduler.ts';
import { startWorkers } from '#infra/server/functions/workers.ts';
import { tables } from '#platform/aws/tables.ts';
import { variables } from '#platform/config.ts';
import { systemClock } from '#platform/services/system.ts';
import { localClientOptions } from '#test/support/engines/local-aws-client.ts';
import { silentLog } from '#test/support/engines/silent-log.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { writeBundle } from '#test/support/system/function-bundles.ts';
import type { ClusterAccess } from './cluster-access.ts';
import type { DelayedEngines, EngineCall } from './deployed-engines-main.ts';
import { DeployedFunction } from './deployed-function.ts';

const busName = 'busdriver';
const account = 'bench';

/** Any ARN: what answers does not look at it. */
const secretArn = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:config-AbCdEf';

/** The deployed functions behind a door on this machine. Disposing ends all of it. */
export interface DeployedSystem extends AsyncDisposable {
  readonly url: string;
  readonly account: string;
  /** Ends the processes of functions that do nothing, so that their next invocation starts one. */
  endIdle(): Promise<void>;
  /** The calls of services since it was last asked, in the order in which they were answered. */
  takeCalls(): Promise<readonly EngineCall[]>;
}

/**
 * Starts what CDK deploys without AWS: engines that answer as late as AWS does, functions as their bundles, each invocation at a time in a
 * process of its own, and in this process what hands requests, messages and turns of schedules to them.
 *
 * @param namespaces those that the account is about
 */
export async function startDeployedSystem(
  cluster: ClusterAccess,
  namespaces: readonly string[],
): Promise<DeployedSystem> {
  await using starting = new AsyncDisposableStack();
  const { path: dir } = starting.use(await makeTempDir());
  const secretFile = join(dir, 'secret.json');
  await writeFile(secretFile, JSON.stringify(await toSettings(cluster, namespaces)), { mode: 0o600 });
  const { engines, takeCalls } = starting.use(await startEngines([join(dir, 'tables'), busName, secretFile]));
  // All at once, and before anything is measured.
  getBundles();
  const fleet = starting.use(new FunctionFleet(dir, toEnvironment(engines)));
  // Functions log for themselves.
  const log = silentLog;
  const invoker = new Invoker(async (module) => fleet.toHandler(module), log);
  // Before it has published what functions may know of accounts, they refuse all.
  await invoker.invoke({ module: 'workers/schedule-agents', event: {}, timeoutSeconds: 50 });
  const door = { host: '127.0.0.1', port: 0, allowedHosts: [] };
  const { url } = starting.use(await startHttp({ routes, invoker, log, ...door }));
  const sqs = new SQSClient({ ...localClientOptions, endpoint: engines.sqs });
  const sources = toEventSources(queues, (name) => toQueueUrl(name, engines.sqs));
  starting.use(startWorkers({ sources, sqs, invoker, log }));
  starting.use(startScheduler({ schedules, invoker, clock: systemClock }));
  const running = starting.move();
  return {
    ...{ url, account, takeCalls, endIdle: () => fleet.endIdle() },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Deployed functions read no files. */
async function toSettings({ server, caFile, token }: ClusterAccess, namespaces: readonly string[]) {
  const authority = (await readFile(caFile)).toString('base64');
  const cluster = { server, 'certificate-authority-data': authority };
  const kubeconfig = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': account },
    clusters: [{ name: account, cluster }],
    users: [{ name: account, user: { token } }],
    contexts: [{ name: account, context: { cluster: account, user: account } }],
  };
  const own = { name: account, namespaces, kubeconfigContents: JSON.stringify(kubeconfig) };
  return { kubernetes: { enabled: true, accounts: [own] } };
}

/** The engines in a process of their own. */
async function startEngines(args: readonly string[]) {
  const child = fork(join(import.meta.dirname, 'deployed-engines-main.ts'), args);
  const ended = once(child, 'exit');
  const [engines] = (await once(child, 'message')) as [DelayedEngines];
  return {
    engines,
    async takeCalls() {
      const answer = once(child, 'message');
      child.send('calls');
      return (await answer)[0] as readonly EngineCall[];
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The environment that CDK gives all functions, and Lambda, with engines in AWS' place. */
function toEnvironment(engines: DelayedEngines): { readonly [name: string]: string } {
  const settings = {
    ...{ configFiles: [], profiles: ['local'], kubeconfig: undefined },
    logLevel: 'ERROR',
  } as const;
  const { region, credentials } = localClientOptions;
  return {
    ...toFunctionEnvironment({ settings, engines, tables, queues, busName }),
    [variables.placement]: 'deployed',
    AWS_ENDPOINT_URL_SECRETS_MANAGER: engines.secretsManager,
    ...{ AWS_REGION: region, AWS_ACCESS_KEY_ID: credentials.accessKeyId },
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  };
}

/** What functions may read of secrets, by their modules. */
const uses = new Map<string, readonly Use[]>(
  [...routes, ...queues, ...schedules].map((row) => [row.module, row.uses ?? []]),
);

/** Processes of functions: as in Lambda a process has one invocation at a time, and is kept for the next one. */
class FunctionFleet implements AsyncDisposable {
  readonly #dir: string;
  readonly #env: { readonly [name: string]: string };
  readonly #files = new Map<string, Promise<string>>();
  readonly #idle = new Map<string, DeployedFunction[]>();
  readonly #all = new Set<DeployedFunction>();

  constructor(dir: string, env: { readonly [name: string]: string }) {
    this.#dir = dir;
    this.#env = env;
  }

  toHandler(module: string): Handler {
    return async (event, context) => {
      const found = this.#idle.get(module)?.pop() ?? (await this.#start(module));
      const answer = await found.invoke(event, context);
      // What failed is not used again.
      this.#idle.set(module, [...(this.#idle.get(module) ?? []), found]);
      return answer;
    };
  }

  async endIdle(): Promise<void> {
    const idle = [...this.#idle.values()].flat();
    this.#idle.clear();
    await this.#end(idle);
  }

  async #start(module: string): Promise<DeployedFunction> {
    const file = this.#files.get(module) ?? writeBundle(module, this.#dir);
    this.#files.set(module, file);
    const readsAccounts = uses.get(module)?.includes('readAccounts');
    const env = { ...this.#env, ...(readsAccounts && { [variables.configSecretArn]: secretArn }) };
    const started = new DeployedFunction(await file, env);
    this.#all.add(started);
    return started;
  }

  async #end(functions: readonly DeployedFunction[]): Promise<void> {
    for (const each of functions) this.#all.delete(each);
    await Promise.all(functions.map((each) => each[Symbol.asyncDispose]()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end([...this.#all]);
  }
}
