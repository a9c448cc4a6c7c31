import { expect } from 'vitest';
import { asString, getPath, type JsonObject } from '#core/json.ts';
import type { SystemTask } from '#test/support/system/system.ts';
import type { KilledSystem } from './killed-system.ts';
import type { BackendWatch } from './watched-objects.ts';

/** Milliseconds until pods have come behind a Service, or left. */
const trafficTimeoutMs = 120_000;

export interface PipelinePlace {
  readonly system: KilledSystem;
  readonly account: string;
  readonly namespace: string;
  readonly application: string;
  readonly size: number;
  readonly backends: BackendWatch;
}

/** Blue/green with the operations of the V1 provider, as Orca put it together while there was that provider. */
export class BlueGreenPipeline {
  readonly made: string[] = [];
  readonly #place: PipelinePlace;
  #current = '';
  #requests = 0;

  constructor(place: PipelinePlace) {
    this.#place = place;
  }

  get current(): string {
    return this.#current;
  }

  async start(): Promise<void> {
    const { application, namespace } = this.#place;
    const ports = [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 80 }];
    const { resultObjects } = await this.#run('upsertLoadBalancer', {
      ...{ loadBalancerName: application, name: application, app: application, ports },
      ...{ serviceType: 'ClusterIP', sessionAffinity: 'None', externalIps: [] },
      availabilityZones: { [namespace]: [namespace] },
    });
    expect(resultObjects).toEqual([{ loadBalancers: { [namespace]: { name: application } } }]);
    this.#current = await this.#create();
  }

  async advance(): Promise<void> {
    const before = this.#current;
    const next = await this.#create();
    await this.#disable(before);
    this.#current = next;
    await this.#run('resizeServerGroup', {
      ...this.#target(before),
      capacity: { min: 0, max: 0, desired: 0 },
    });
    await this.#run('destroyServerGroup', this.#target(before));
  }

  /** Another server group takes over, but is no good: the one before is enabled again. */
  async rollBack(): Promise<void> {
    const before = this.#current;
    const next = await this.#create();
    await this.#disable(before);
    await this.#run('enableServerGroup', this.#target(before));
    await this.#waitForBackends(before, this.#place.size);
    await this.#disable(next);
    await this.#run('destroyServerGroup', this.#target(next));
  }

  /** Creates the next server group, and waits for its pods to get traffic. */
  async #create(): Promise<string> {
    const { namespace, application, size } = this.#place;
    const handler = { type: 'TCP', tcpSocketAction: { port: 80 } };
    const task = await this.#run('createServerGroup', {
      ...{ application, stack: '', freeFormDetails: '', strategy: '', targetSize: String(size) },
      loadBalancers: [application],
      securityGroups: [],
      containers: [
        {
          ...{ name: 'web', imagePullPolicy: 'IFNOTPRESENT', readinessProbe: { handler } },
          imageDescription: { registry: 'registry.test', repository: 'shop/web', tag: '1' },
          ports: [{ name: 'http', containerPort: '80', protocol: 'TCP' }],
        },
      ],
      ...{ volumeSources: [], deployment: { enabled: false }, useSourceCapacity: false },
      ...{ interestingHealthProviderNames: ['KubernetesContainer', 'KubernetesPod'] },
    });
    const name = asString(getPath(task.resultObjects[0], 'serverGroupNameByRegion', namespace)) ?? '';
    this.made.push(name);
    await this.#waitForBackends(name, size);
    return name;
  }

  async #disable(name: string): Promise<void> {
    await this.#run('disableServerGroup', this.#target(name));
    await this.#waitForBackends(name, 0);
  }

  #target(serverGroupName: string): JsonObject {
    return { serverGroupName, interestingHealthProviderNames: ['KubernetesService'] };
  }

  async #run(operation: string, fields: JsonObject): Promise<SystemTask> {
    const { system, account, namespace } = this.#place;
    this.#requests += 1;
    const common = {
      cloudProvider: 'kubernetes',
      account,
      credentials: account,
      namespace,
      region: namespace,
    };
    const task = await system.run(operation, { ...common, ...fields }, `${namespace}-${this.#requests}`);
    const failure = task.resultObjects.find(({ type }) => type === 'EXCEPTION');
    expect(failure, `the failure of ${operation}`).toBeUndefined();
    return task;
  }

  async #waitForBackends(serverGroup: string, count: number): Promise<void> {
    const { backends } = this.#place;
    const countThem = () => backends.pods.filter((pod) => pod.startsWith(`${serverGroup}-`)).length;
    const message = `pods of ${serverGroup} behind the Service`;
    await expect.poll(countThem, { timeout: trafficTimeoutMs, interval: 20, message }).toBe(count);
  }
}
