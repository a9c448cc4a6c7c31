import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { LogFields, Logger } from '#core/logger.ts';
import { PodCluster } from '#infra/kubernetes/peers/pod-cluster.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import type { TcpForwarder } from '#test/shared/providers/kubernetes/transport/tcp-forwarder.ts';
import { startTcpForwarder } from '#test/shared/providers/kubernetes/transport/tcp-forwarder.ts';
import type { TestNamespace } from '#test/support/cluster/cluster.ts';
import { createNamespace, findObject, getCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

/** What a pod of Busdriver finds in itself: files of a service account of a namespace of its own. Disposing deletes it. */
export interface TestPod extends AsyncDisposable {
  readonly namespace: TestNamespace;
  /** Folder with `token`, `ca.crt` and `namespace`. */
  readonly directory: string;
  /** Where it finds its API server: by way of {@link forwarder}. */
  readonly environment: { readonly [name: string]: string };
  /** Cuts its connections to the API server. */
  readonly forwarder: TcpForwarder;
  /** Opens the cluster as the pod does. */
  openCluster(log?: Logger): PodCluster;
  /** Writes a token for an audience, and answers its file. @param account default its own service account */
  writeToken(audience: string, account?: string): Promise<string>;
  /** Lets the service account do so with resources of its namespace. */
  grant(rule: PodRule): Promise<void>;
  /** Lets it ask the API server whose a token is, until the pod is disposed of. */
  letReviewTokens(): Promise<void>;
  /** Takes that away again, and waits until it counts. */
  revoke(rule: PodRule): Promise<void>;
}

/** What a service account may do. */
export interface PodRule {
  readonly verbs: readonly string[];
  readonly resource: 'endpoints' | 'endpointslices';
}

/** Settings by which whoever reaches a replica manages accounts, and learns of its peers: here without Fiat. */
export const openToManagers = { busdriver: { accounts: { writableWithoutFiat: true } } };

const accountName = 'spin-clouddriver';
const rbacApi = '/apis/rbac.authorization.k8s.io/v1';

/** Makes a pod's files in a namespace of its own. @param rules what its service account may do. Default: list and watch Endpoints */
export async function createPod(rules: readonly PodRule[] = [watchEndpoints]): Promise<TestPod> {
  await using starting = new AsyncDisposableStack();
  const namespace = starting.use(await createNamespace('home'));
  const dir = starting.use(await makeTempDir());
  const forwarder = starting.use(await startTcpForwarder(Number(new URL(getCluster().server).port)));
  const pod = new Pod(namespace, dir.path, forwarder);
  await pod.create();
  for (const rule of rules) await pod.grant(rule);
  starting.defer(() => pod.forbidReviewTokens());
  const running = starting.move();
  return Object.assign(pod, { [Symbol.asyncDispose]: () => running.disposeAsync() });
}

/** What peers need. */
export const watchEndpoints: PodRule = { verbs: ['list', 'watch'], resource: 'endpoints' };

class Pod {
  readonly namespace: TestNamespace;
  readonly directory: string;
  readonly environment: { readonly [name: string]: string };
  readonly forwarder: TcpForwarder;
  #mayReview = false;

  constructor(namespace: TestNamespace, directory: string, forwarder: TcpForwarder) {
    this.namespace = namespace;
    this.directory = directory;
    this.forwarder = forwarder;
    this.environment = {
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: String(forwarder.port),
    };
  }

  async create(): Promise<void> {
    await mkdir(this.directory, { recursive: true });
    await this.#createAccount(accountName);
    await writeFile(path.join(this.directory, 'token'), await this.#requestToken(accountName));
    await writeFile(path.join(this.directory, 'ca.crt'), await readFile(getCluster().caFile));
    await writeFile(path.join(this.directory, 'namespace'), this.namespace.name);
  }

  openCluster(log: Logger = new RecordedLog()): PodCluster {
    return new PodCluster({
      environment: this.environment,
      serviceAccountDirectory: this.directory,
      clock: systemClock,
      randomness: systemRandomness,
      log,
    });
  }

  async writeToken(audience: string, account = accountName): Promise<string> {
    await this.#createAccount(account);
    const file = path.join(this.directory, `token-${account}-${audience}`);
    await writeFile(file, await this.#requestToken(account, audience));
    return file;
  }

  async grant(rule: PodRule): Promise<void> {
    const name = toRoleName(rule);
    const scope = `${rbacApi}/namespaces/${this.namespace.name}`;
    const apiGroups = [rule.resource === 'endpoints' ? '' : 'discovery.k8s.io'];
    await requestApi('POST', `${scope}/roles`, {
      metadata: { name },
      rules: [{ apiGroups, resources: [rule.resource], verbs: rule.verbs }],
    });
    await requestApi('POST', `${scope}/rolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name: accountName, namespace: this.namespace.name }],
    });
    await this.#waitForAccess(rule, true);
  }

  async letReviewTokens(): Promise<void> {
    this.#mayReview = true;
    await requestApi('POST', `${rbacApi}/clusterrolebindings`, {
      metadata: { name: this.namespace.name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:auth-delegator' },
      subjects: [{ kind: 'ServiceAccount', name: accountName, namespace: this.namespace.name }],
    });
  }

  async forbidReviewTokens(): Promise<void> {
    if (this.#mayReview) await requestApi('DELETE', `${rbacApi}/clusterrolebindings/${this.namespace.name}`);
  }

  async revoke(rule: PodRule): Promise<void> {
    const target = `${rbacApi}/namespaces/${this.namespace.name}/rolebindings/${toRoleName(rule)}`;
    await requestApi('DELETE', target);
    await this.#waitForAccess(rule, false);
  }

  async #waitForAccess({ verbs, resource }: PodRule, isWanted: boolean): Promise<void> {
    const group = resource === 'endpoints' ? '' : 'discovery.k8s.io';
    for (const verb of verbs) {
      const isAllowed = async () => {
        const review = (await requestApi('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
          spec: {
            user: `system:serviceaccount:${this.namespace.name}:${accountName}`,
            resourceAttributes: { namespace: this.namespace.name, verb, group, resource },
          },
        })) as { status: { allowed: boolean } };
        return review.status.allowed;
      };
      while ((await isAllowed()) !== isWanted) await systemClock.sleep(20);
    }
  }

  async #createAccount(name: string): Promise<void> {
    const accounts = `/api/v1/namespaces/${this.namespace.name}/serviceaccounts`;
    if ((await findObject(`${accounts}/${name}`)) !== undefined) return;
    await requestApi('POST', accounts, { metadata: { name } });
  }

  async #requestToken(account: string, audience?: string): Promise<string> {
    const target = `/api/v1/namespaces/${this.namespace.name}/serviceaccounts/${account}/token`;
    const spec = audience === undefined ? {} : { audiences: [audience] };
    return ((await requestApi('POST', target, { spec })) as { status: { token: string } }).status.token;
  }
}

function toRoleName({ resource, verbs }: PodRule): string {
  return `${resource}-${verbs.join('-')}`;
}

/** A log that a test reads. */
export class RecordedLog implements Logger {
  readonly lines: { readonly message: string; readonly fields: LogFields }[] = [];
  readonly #record = (message: string, fields: LogFields = {}): void =>
    void this.lines.push({ message, fields });
  readonly debug = (): void => undefined;
  readonly info = this.#record;
  readonly warn = this.#record;
  readonly error = this.#record;

  /** The messages so far. */
  get messages(): readonly string[] {
    return this.lines.map(({ message }) => message);
  }
}

/** Addresses of Endpoints, as a test writes them: by name of the pod. */
export interface WrittenAddresses {
  readonly ready?: { readonly [pod: string]: string };
  readonly notReady?: { readonly [pod: string]: string };
  /** Default `http`. */
  readonly portName?: string;
  /** Default 7002. */
  readonly port?: number;
}

/** Writes Endpoints by hand, as the control plane would write them for a Service. */
export async function writeEndpoints(
  { namespace }: Pick<TestPod, 'namespace'>,
  name: string,
  { ready = {}, notReady = {}, portName = 'http', port = 7002 }: WrittenAddresses,
): Promise<void> {
  const list = (addresses: { readonly [pod: string]: string }) =>
    Object.entries(addresses).map(([pod, ip]) => ({
      ip,
      targetRef: { kind: 'Pod', name: pod, namespace: namespace.name },
    }));
  const ports = [
    { name: 'grpc', port: 9091 },
    { name: portName, port },
  ];
  const subsets = [{ addresses: list(ready), notReadyAddresses: list(notReady), ports }];
  const target = `/api/v1/namespaces/${namespace.name}/endpoints`;
  const object = { apiVersion: 'v1', kind: 'Endpoints', metadata: { name }, subsets };
  const isThere = (await findObject(`${target}/${name}`)) !== undefined;
  await (isThere ? requestApi('PUT', `${target}/${name}`, object) : requestApi('POST', target, object));
}

/** Deletes Endpoints. */
export async function deleteEndpoints(
  { namespace }: Pick<TestPod, 'namespace'>,
  name: string,
): Promise<void> {
  await requestApi('DELETE', `/api/v1/namespaces/${namespace.name}/endpoints/${name}`);
}
