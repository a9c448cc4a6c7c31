import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Deployment } from '../support/deployed-system.ts';
import { type ClusterOffer, offerCluster } from '../support/global-cluster.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import {
  type AssemblySize,
  bootstrapAccount,
  type CdkOptions,
  deployStacks,
  destroyStacks,
  measureAssembly,
  synthesizeStacks,
} from './cdk.ts';
import { startDomain } from './domain.ts';
import { type EventTap, startEventTap } from './event-tap.ts';
import { putGatewayResponses } from './gateway-responses.ts';
import {
  createSharedSecret,
  describeChangedInstallation,
  describeTestedInstallation,
  domainName,
  testedName,
} from './installation.ts';
import { type Inventory, listApis, takeInventory } from './inventory.ts';
import { type Ministack, readTail, startMinistack } from './ministack.ts';
import type { PythonEnvironment } from './python-environment.ts';

/** What a phase may use. */
export interface DeployRun extends AsyncDisposable {
  readonly python: PythonEnvironment;
  /** A folder that vanishes with the run. */
  readonly folder: string;
  readonly ministack: Ministack;
  readonly cdk: CdkOptions;
  readonly clusterOffer: ClusterOffer;
  /** Writes the assemblies of the tested installation and of the changed one. */
  synthesize(): Promise<AssemblySize>;
  /** Deploys the tested installation into an account that CDK has prepared. */
  deploy(): Promise<Inventory>;
  /** Where it was deployed. @throws Error before */
  getDeployment(): Deployment;
  /**
   * Deletes it.
   *
   * @throws Error when something is left
   */
  destroy(): Promise<void>;
  /** The ends of all logs, for people. */
  readLogs(): Promise<string>;
}

/** Starts the emulator, and offers a cluster that starts when it is asked for. */
export async function startDeployRun(python: PythonEnvironment): Promise<DeployRun> {
  const resources = new AsyncDisposableStack();
  try {
    const { path: folder } = resources.use(await makeTempDir());
    const cluster = await offerCluster();
    resources.defer(cluster.stop);
    const ministack = resources.use(await startMinistack(python, folder));
    return new RunningDeployRun({ python, folder, ministack, clusterOffer: cluster.offer, resources });
  } catch (error) {
    await resources.disposeAsync();
    throw error;
  }
}

interface Parts extends Pick<DeployRun, 'python' | 'folder' | 'ministack' | 'clusterOffer'> {
  readonly resources: AsyncDisposableStack;
}

class RunningDeployRun implements DeployRun {
  readonly python: PythonEnvironment;
  readonly folder: string;
  readonly ministack: Ministack;
  readonly clusterOffer: ClusterOffer;
  readonly cdk: CdkOptions;
  readonly #resources: AsyncDisposableStack;
  readonly #sharedSecret = randomBytes(24).toString('base64url');
  readonly #assembly: string;
  readonly #changedAssembly: string;
  #deployment: Deployment | undefined;
  #tap: EventTap | undefined;

  constructor({ python, folder, ministack, clusterOffer, resources }: Parts) {
    this.python = python;
    this.folder = folder;
    this.ministack = ministack;
    this.clusterOffer = clusterOffer;
    this.cdk = { endpoint: ministack.endpoint, logFile: path.join(folder, 'cdk.log') };
    this.#resources = resources;
    this.#assembly = path.join(folder, 'assembly');
    this.#changedAssembly = path.join(folder, 'changed-assembly');
  }

  async synthesize(): Promise<AssemblySize> {
    const secretArn = await createSharedSecret(this.ministack.endpoint, this.#sharedSecret);
    await Promise.all([
      synthesizeStacks(this.#assembly, describeTestedInstallation(secretArn), this.cdk),
      synthesizeStacks(this.#changedAssembly, describeChangedInstallation(secretArn), this.cdk),
    ]);
    return measureAssembly(this.#assembly);
  }

  async deploy(): Promise<Inventory> {
    const { endpoint, pid } = this.ministack;
    await bootstrapAccount(this.#assembly, this.cdk);
    await deployStacks(this.#assembly, this.cdk);
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
      ...{ changedAssembly: this.#changedAssembly, cdkLog: this.cdk.logFile },
    };
    return inventory;
  }

  getDeployment(): Deployment {
    if (this.#deployment === undefined) throw new Error('Nothing is deployed');
    return this.#deployment;
  }

  async destroy(): Promise<void> {
    await this.#tap?.[Symbol.asyncDispose]();
    await destroyStacks(this.#assembly, this.cdk);
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
