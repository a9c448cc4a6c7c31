import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  createNamespace,
  describeWithCluster,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { type Front50, startFront50 } from '#test/support/services/front50.ts';
import { startSubject } from '#test/support/system/subject.ts';
import type { Subject } from '#test/support/system/system.ts';
import {
  type DeckObjects,
  type DeckRequest,
  deckRequests,
  fillIn,
  toExpected,
} from './deck-requests-data.ts';

/** Of this file alone: the cluster is shared with others. */
const application = 'deckshop';
const crd = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const headers = {
  'Accept-Encoding': 'gzip',
  'Content-Type': 'application/json',
  'X-SPINNAKER-USER': 'ada@example.com',
  'X-SPINNAKER-ACCOUNTS': 'test',
  'X-SPINNAKER-REQUEST-ID': '8e2f7c1e-deck',
  'X-SPINNAKER-USER-ORIGIN': 'deck',
};

describeWithCluster('what Deck asks, as Gate sends it', (cluster) => {
  let namespace: TestNamespace;
  let front50: Front50;
  let system: Subject;
  let objects: DeckObjects;

  beforeAll(async () => {
    namespace = await createNamespace('deck');
    await requestApi('POST', crd, createDefinition());
    front50 = await startFront50({
      projects: [
        {
          id: 'deck-project',
          name: 'Deck Project',
          config: {
            applications: [application],
            clusters: [{ account: 'test', stack: '*', detail: '*', applications: null }],
          },
        },
      ],
    });
    const account = { name: 'test', kubeconfigFile: cluster.kubeconfig, onlySpinnakerManaged: true };
    const services = { front50: { baseUrl: front50.url } };
    system = await startSubject({ settings: { kubernetes: { accounts: [account] }, services } });
    const taskId = await system.postOperations([
      {
        deployManifest: {
          account: 'test',
          moniker: { app: application },
          manifests: createShop(namespace.name),
        },
      },
    ]);
    const task = await system.waitForTask(taskId);
    expect(task.status).toMatchObject({ failed: false });
    objects = { application, namespace: namespace.name, taskId, ...(await findServing()) };
  });

  afterAll(async () => {
    await requestApi('DELETE', `${crd}/gadgets.deck.example.com`).catch(() => undefined);
    await system?.[Symbol.asyncDispose]();
    await front50?.[Symbol.asyncDispose]();
    await namespace?.[Symbol.asyncDispose]();
  });

  /** The server group and its pod, once they are shown and everything was listed: then the lag is known. */
  function findServing(): Promise<Pick<DeckObjects, 'replicaSet' | 'pod' | 'podUid'>> {
    const read = async () => {
      const answer = await system.fetch(`/applications/${application}/serverGroups`);
      const groups = (await answer.json()) as { name: string; instances: { id: string; name: string }[] }[];
      const serving = groups.find(
        ({ name, instances }) => name.startsWith('replicaSet web') && instances.length > 0,
      );
      const [pod] = serving?.instances ?? [];
      const lag = answer.headers.get('x-busdriver-lag') ?? '';
      if (serving === undefined || pod === undefined || lag.includes('unknown'))
        throw new Error(`no pod is shown yet, or not all is listed: ${lag}`);
      const [replicaSet = '', podName = ''] = [serving.name, pod.name].map((name) => name.split(' ')[1]);
      return { replicaSet, pod: podName, podUid: pod.id };
    };
    return vi.waitFor(read, { timeout: 120_000, interval: 250 });
  }

  async function ask(request: DeckRequest): Promise<{ status: number; body: unknown }> {
    const { method = 'GET', body } = request;
    const answer = await system.fetch(fillIn(request.target, objects), {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: await answer.json() };
  }

  describe.each([...Map.groupBy(deckRequests, ({ page }) => page)])('%s', (_, requests) => {
    it.each(requests)('$target', async (request) => {
      const { status = 200, shows } = request;

      const answer = await ask(request);

      expect(answer).toEqual({ status, body: toExpected(shows ?? '$anything', objects) });
    });
  });

  it('the lists of an application, all at once', async () => {
    const pages = [
      'clusters',
      'clusters: server groups',
      'clusters: managers',
      'load balancers',
      'firewalls',
    ];
    const burst = deckRequests.filter(({ page }) => [...pages, 'the Kubernetes tab'].includes(page));

    const answers = await Promise.all(burst.map(ask));

    expect(burst).toHaveLength(6);
    expect(answers.map(({ status }) => status)).toEqual(burst.map(() => 200));
  });
});

function createDefinition(): object {
  const names = { plural: 'gadgets', singular: 'gadget', kind: 'Gadget' };
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gadgets.deck.example.com' },
    spec: {
      group: 'deck.example.com',
      names,
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}

/** A Deployment behind a service, a network policy, a ConfigMap, a Job and a custom resource. */
function createShop(namespace: string): object[] {
  const labels = { app: 'web' };
  const create = (type: { apiVersion: string; kind: string }, name: string, more: object) => ({
    ...type,
    metadata: { name, namespace, labels },
    ...more,
  });
  const podSpec = { containers: [{ name: 'main', image: 'example.invalid/web:1.0' }] };
  const template = { metadata: { labels }, spec: podSpec };
  const once = { metadata: { labels: { app: 'smoke' } }, spec: { ...podSpec, restartPolicy: 'Never' } };
  return [
    create({ apiVersion: 'apps/v1', kind: 'Deployment' }, 'web', {
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    }),
    create({ apiVersion: 'v1', kind: 'Service' }, 'web', {
      spec: { selector: labels, ports: [{ port: 80 }] },
    }),
    create({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' }, 'deny', {
      spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] },
    }),
    create({ apiVersion: 'v1', kind: 'ConfigMap' }, 'flags', { data: { color: 'blue' } }),
    create({ apiVersion: 'batch/v1', kind: 'Job' }, 'smoke', { spec: { suspend: true, template: once } }),
    create({ apiVersion: 'deck.example.com/v1', kind: 'Gadget' }, 'g1', { spec: { size: 1 } }),
  ];
}
