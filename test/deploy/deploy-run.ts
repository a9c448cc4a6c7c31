import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { ClusterOffer } from '#test/support/cluster/global-cluster.ts';
import type { Deployment } from '#test/support/system/deployed-system.ts';
import { bootstrapAccount, type CdkOptions, deployStacks, destroyStacks } from './cdk.ts';
import { startDomain } from './domain.ts';
import { type EventTap, startEventTap } from './event-tap.ts';
import { putGatewayResponses } from './gateway-responses.ts';
import { createOperatorSecrets, testedName } from './installation.ts';
import { type Inventory, listApis, takeInventory } from './inventory.ts';
import { type Ministack, readTail, startMinistack } from './ministack.ts';
import type { OperatorSecrets } from './option-steps.ts';
import type { PythonEnvironment } from './python-environment.ts';

/** What a phase may use: an emulator, and what its lane has deployed there. */
export interface DeployRun extends AsyncDisposable {
  readonly python: PythonEnvironment;
  /** A folder of its own. */
  readonly folder: string;
  /** A folder in it for assemblies of CDK, by name. */
  readonly assemblies: string;
  readonly ministack: Ministack;
  readonly cdk: CdkOptions;
  readonly clusterOffer: ClusterOffer;
  /** Secrets that the operator has made before the first deploy. */
  readonly secrets: OperatorSecrets;
  /**
   * Deploys an assembly of the installation `busdriver-test` into an account that CDK has prepared.
   *
   * @param domainName name under which callers reach it; undefined where it has none, or the emulator knows no such names
   */
  deploy(assembly: string, domainName?: string): Promise<Inventory>;
  /** Where it was deployed. @throws Error before */
  getDeployment(): Deployment;
  /**
   * Deletes it.
   *
   * @throws Error when something is left
   */
  destroy(assembly: string): Promise<void>;
  /** The ends of all logs, for people. */
  readLogs(): Promise<string>;
}

/** What a run begins with. */
export interface DeployRunOptions
  extends Pick<DeployRun, 'python' | 'clusterOffer'>,
    Pick<CdkOptions, 'packages'> {
  /** A folder that is not there yet. */
  readonly folder: string;
}

/** Starts an emulator with the operator's secrets, in which nothing is deployed yet. */
export async function startDeployRun(options: DeployRunOptions): Promise<DeployRun> {
  const assemblies = path.join(options.folder, 'assemblies');
  await mkdir(assemblies, { recursive: true });
  const ministack = await startMinistack(options.python, options.folder);
  const sharedSecret = randomBytes(24).toString('base64url');
  try {
    const secrets = await createOperatorSecrets(ministack.endpoint, sharedSecret);
    return new RunningDeployRun({ ...options, assemblies, ministack, secrets, sharedSecret });
  } catch (error) {
    await ministack[Symbol.asyncDispose]();
    throw error;
  }
}

interface Parts extends DeployRunOptions, Pick<DeployRun, 'assemblies' | 'ministack' | 'secrets'> {
  readonly sharedSecret: string;
}

class RunningDeployRun implements DeployRun {
  readonly python: PythonEnvironment;
  readonly folder: string;
  readonly assemblies: string;
  readonly ministack: Ministack;
  readonly clusterOffer: ClusterOffer;
  readonly cdk: CdkOptions;
  readonly secrets: OperatorSecrets;
  readonly #resources = new AsyncDisposableStack();
  readonly #sharedSecret: string;
  #deployment: Deployment | undefined;
  #tap: EventTap | undefined;

  constructor(parts: Parts) {
    this.python = parts.python;
    this.folder = parts.folder;
    this.assemblies = parts.assemblies;
    this.clusterOffer = parts.clusterOffer;
    this.ministack = this.#resources.use(parts.ministack);
    const { endpoint } = parts.ministack;
    this.cdk = { endpoint, logFile: path.join(this.folder, 'cdk.log'), packages: parts.packages };
    this.secrets = parts.secrets;
    this.#sharedSecret = parts.sharedSecret;
  }

  async deploy(assembly: string, domainName?: string): Promise<Inventory> {
    const { endpoint, pid } = this.ministack;
    await bootstrapAccount(assembly, this.cdk);
    await deployStacks(assembly, this.cdk);
    const inventory = await takeInventory(endpoint);
    const api = (await listApis(endpoint)).find(({ name }) => name === `${testedName}-api`);
    if (api === undefined) throw new Error('There is no API after the deploy');
    const sharedSecret = this.#sharedSecret;
    await putGatewayResponses(endpoint, api.id);
    this.#tap = await startEventTap(endpoint, testedName);
    const domain = this.#resources.use(
      await startDomain({ endpoint, domainName, apiId: api.id, sharedSecret }),
    );
    this.#deployment = {
      ...{ url: domain.url, endpoint, emulatorPid: pid, name: testedName, sharedSecret },
      eventQueueUrl: this.#tap.queueUrl,
      ...{ assemblies: this.assemblies, secrets: this.secrets, cdk: this.cdk },
    };
    return inventory;
  }

  getDeployment(): Deployment {
    if (this.#deployment === undefined) throw new Error('Nothing is deployed');
    return this.#deployment;
  }

  async destroy(assembly: string): Promise<void> {
    await this.#tap?.[Symbol.asyncDispose]();
    await destroyStacks(assembly, this.cdk);
    const left = Object.values(await takeInventory(this.ministack.endpoint)).flat();
    if (left.length > 0) throw new Error(`cdk destroy left ${left.join(', ')}`);
  }

  async readLogs(): Promise<string> {
    return [await readTail(this.cdk.logFile), await readTail(this.ministack.logFile)].join('\n\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }
}
