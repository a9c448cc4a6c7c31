import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { inject } from 'vitest';
import { parse } from 'yaml';
import { callRest } from '#test/deploy/aws-calls.ts';
import type { CdkOptions } from '#test/deploy/cdk.ts';
import { takeEvents } from '#test/deploy/event-tap.ts';
import type { OperatorSecrets } from '#test/deploy/option-steps.ts';
import type { RunningProcess } from '#test/deploy/processes.ts';
import { endProcesses, listDescendants, waitUntilEnded } from '#test/deploy/processes.ts';
import { localClientOptions } from '../engines/local-aws-client.ts';
import { listOpenRows } from '../engines/open-rows.ts';
import { awaitEmptyQueue, purgeQueue, type Stores } from '../engines/stores.ts';
import { ApiCaller, type PostOptions } from './api-caller.ts';
import { readLogs } from './deployed-logs.ts';
import type { BusEvent, StartSystemOptions, Subject } from './system.ts';

/** Where the stacks were deployed; what `npm run test:deploy` tells its tests. */
export interface Deployment {
  /** Base URL of the API. */
  readonly url: string;
  /** Endpoint of the emulated AWS. */
  readonly endpoint: string;
  /** Process of the emulator, whose children are the functions. */
  readonly emulatorPid: number;
  /** How the names of all resources begin. */
  readonly name: string;
  /** What callers of the API must send as `Authorization: Bearer …`; `url` adds it where it is missing. */
  readonly sharedSecret: string;
  /** Queue with every event on the bus. */
  readonly eventQueueUrl: string;
  /** Folder with the assemblies of CDK that this run has, by name. */
  readonly assemblies: string;
  /** ARNs of secrets that the operator has made. */
  readonly secrets: OperatorSecrets;
  /** How the command of CDK works there. */
  readonly cdk: CdkOptions;
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** Undefined where tests start the system themselves. */
    deployment: Deployment | undefined;
  }
}

/** The deployed stacks that this run is about; undefined where it is about the system on this machine. */
export function findDeployment(): Deployment | undefined {
  return inject('deployment');
}

/** The deployed stacks. @throws Error where there are none */
export function getDeployment(): Deployment {
  const deployment = findDeployment();
  if (deployment === undefined) throw new Error('Nothing is deployed');
  return deployment;
}

const idleTimeoutMs = 180_000;
/** A message whose worker was killed stays hidden for a quarter of an hour: it is not waited for. */
const timeoutMs = 2_000;
const openTasksTimeoutMs = 180_000;
const pollIntervalMs = 100;
/** Each run of hundreds of accounts goes on behind what the one before wrote: on a busy machine it takes several. */
const publishTries = 10;
const publishPauseMs = 5_000;
const tailLength = 4_000;

/**
 * Gives the deployed system the accounts of a test, as an operator does: by new values of its secrets. Functions that run are
 * ended, for they remember what they read, and what those without secrets may know is published at once.
 */
export async function configureDeployedSystem(
  deployment: Deployment,
  options: Pick<StartSystemOptions, 'kubeconfig' | 'config' | 'settings'>,
): Promise<Subject> {
  const system = new DeployedSystem(deployment, await readConfiguration(options));
  await system.configure();
  return Object.assign(system, { [Symbol.asyncDispose]: () => system.settle() });
}

/** The processes in which a function runs, busy ones and idle ones; of every function by default. */
export async function listFunctionProcesses(
  { emulatorPid, name }: Deployment,
  functionName = '',
): Promise<RunningProcess[]> {
  const processes = await listDescendants(emulatorPid);
  return processes.filter(({ command }) => command.includes(`ministack-lambda-${name}-${functionName}`));
}

/** Ends the processes of a function, and waits until the emulator can see it; of every function by default. */
export async function endFunctions(deployment: Deployment, functionName?: string): Promise<void> {
  const found = await listFunctionProcesses(deployment, functionName);
  const pids = found.map(({ pid }) => pid);
  endProcesses(pids);
  await waitUntilEnded(pids);
}

/**
 * Has the account facts published now: by themselves they are within a minute, and a test would see those of the one before. A failed
 * run is repeated twice, as Lambda repeats what a schedule started (AWS Lambda, "Error handling for asynchronous invocation").
 */
async function publishAccountFacts({ endpoint, name }: Deployment): Promise<void> {
  const path = `/2015-03-31/functions/${name}-schedule-agents/invocations`;
  const messages: string[] = [];
  while (messages.length < publishTries) {
    const answer = await callRest(endpoint, { service: 'lambda', method: 'POST', path, input: {} });
    const { errorMessage } = Object(answer);
    if (errorMessage === undefined) return;
    messages.push(String(errorMessage));
    await sleep(publishPauseMs);
  }
  throw new Error(`The account facts were not published: ${messages.join('; ')}`);
}

interface Configuration {
  readonly artifacts?: object;
  readonly kubernetes?: { readonly accounts?: readonly Account[] };
}

interface Account {
  readonly name: string;
  readonly kubeconfigFile?: string;
}

class DeployedSystem extends ApiCaller implements Omit<Subject, typeof Symbol.asyncDispose> {
  readonly url: string;
  readonly accounts: readonly string[];
  readonly stores: Stores;
  readonly #deployment: Deployment;
  readonly #configuration: Configuration;
  readonly #startedAtMs = Date.now();
  readonly #events: BusEvent[] = [];
  #lastLook: Promise<unknown> = Promise.resolve();

  constructor(deployment: Deployment, configuration: Configuration) {
    super();
    const { endpoint, name, url } = deployment;
    this.#deployment = deployment;
    this.#configuration = configuration;
    this.url = url;
    this.accounts = (configuration.kubernetes?.accounts ?? []).map((account) => account.name);
    this.stores = {
      ...{ dynamodb: endpoint, tasksTable: `${name}-tasks` },
      ...{ sqs: endpoint, operationsQueue: `${name}-operations` },
      credentials: localClientOptions.credentials,
    };
  }

  async configure(): Promise<void> {
    const { endpoint, name } = this.#deployment;
    await this.settle();
    const { artifacts = {}, ...others } = this.#configuration;
    const client = new SecretsManagerClient({ ...localClientOptions, endpoint });
    for (const [secret, value] of Object.entries({ config: others, artifacts: { artifacts } })) {
      const SecretString = JSON.stringify(value);
      await client.send(new PutSecretValueCommand({ SecretId: `${name}-${secret}`, SecretString }));
    }
    client.destroy();
    await takeEvents(endpoint, this.#deployment.eventQueueUrl);
    await endFunctions(this.#deployment);
    await publishAccountFacts(this.#deployment);
  }

  /** Under an id, as Orca's posts are: on a busy machine the emulator's stores are away at times, and only so it is safe to post again. */
  override async postOperations(operations: readonly object[], options: PostOptions = {}): Promise<string> {
    return super.postOperations(operations, { clientRequestId: randomUUID(), ...options });
  }

  /** Waits until no task of an earlier test is open, and as far as possible until no function works. */
  async settle(): Promise<void> {
    const endsAtMs = performance.now() + openTasksTimeoutMs;
    for (;;) {
      const rows = await listOpenRows(this.stores);
      if (rows.length === 0) break;
      if (performance.now() > endsAtMs) throw new Error(`Tasks are open: ${rows}${await this.describe()}`);
      await sleep(pollIntervalMs);
    }
    if (!(await awaitEmptyQueue(this.stores, timeoutMs))) await purgeQueue(this.stores);
  }

  async idle(): Promise<void> {
    if (await awaitEmptyQueue(this.stores, idleTimeoutMs)) return;
    throw new Error(`The queue is not idle${await this.describe()}`);
  }

  /** One at a time, whoever waits: each call at once would be a process of its own. */
  protected override async readTask(id: string): Promise<{ status: number; body: string }> {
    const look = this.#lastLook.then(() => super.readTask(id));
    this.#lastLook = look.catch(() => undefined);
    return look;
  }

  async readEvents(): Promise<readonly BusEvent[]> {
    const { endpoint, eventQueueUrl } = this.#deployment;
    const texts = await takeEvents(endpoint, eventQueueUrl);
    this.#events.push(...texts.map((text) => JSON.parse(text)));
    return this.#events;
  }

  async readLog(): Promise<string> {
    const { endpoint, name } = this.#deployment;
    return (await readLogs(endpoint, `/aws/lambda/${name}-`, this.#startedAtMs)).join('\n');
  }

  protected async describe(): Promise<string> {
    return `\nThe end of what functions logged:\n${(await this.readLog()).slice(-tailLength)}`;
  }
}

/** What the operator would put into the secret. Deployed functions read no files, so that kubeconfigs stand in it. */
async function readConfiguration(
  options: Pick<StartSystemOptions, 'kubeconfig' | 'config' | 'settings'>,
): Promise<Configuration> {
  const { kubeconfig, config = [], settings } = options;
  if (kubeconfig !== undefined) {
    const { text, contexts } = await readKubeconfig(kubeconfig);
    const accounts = contexts.map((name) => ({ name, context: name, kubeconfigContents: text }));
    return { kubernetes: { accounts } };
  }
  const [file] = config;
  if (settings === undefined && file === undefined) return {};
  const configuration: Configuration = settings ?? parse(await readFile(file ?? '', 'utf8'));
  const accounts = await Promise.all((configuration.kubernetes?.accounts ?? []).map(inlineKubeconfig));
  return { ...configuration, kubernetes: { ...configuration.kubernetes, accounts } };
}

async function inlineKubeconfig(account: Account): Promise<Account> {
  const { kubeconfigFile, ...rest } = account;
  if (kubeconfigFile === undefined) return account;
  const found = await readKubeconfig(kubeconfigFile).catch(() => undefined);
  return found === undefined ? account : { ...rest, ...{ kubeconfigContents: found.text } };
}

interface Kubeconfig {
  readonly clusters: { readonly cluster: { [name: string]: string } }[];
  readonly contexts: { readonly name: string }[];
}

/** A kubeconfig with its certificate authority inside. */
async function readKubeconfig(file: string): Promise<{ text: string; contexts: readonly string[] }> {
  const kubeconfig: Kubeconfig = parse(await readFile(file, 'utf8'));
  for (const { cluster } of kubeconfig.clusters) {
    const { 'certificate-authority': authority } = cluster;
    if (authority === undefined) continue;
    const bytes = await readFile(path.resolve(path.dirname(file), authority));
    delete cluster['certificate-authority'];
    cluster['certificate-authority-data'] = bytes.toString('base64');
  }
  return { text: JSON.stringify(kubeconfig), contexts: kubeconfig.contexts.map(({ name }) => name) };
}
