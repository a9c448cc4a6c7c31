import { AppsV1Api, CoreV1Api } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createConfigMap, createWorkload } from '#test/shared/providers/kubernetes/manifests.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { openApi } from '#test/support/cluster/cluster-api.ts';
import { startSubject } from '#test/support/system/subject.ts';
import type { Subject } from '#test/support/system/system.ts';

const numbers = Array.from({ length: 12 }, (_, index) => String(index));

describeWithCluster('deploys at once of one versioned ConfigMap', (cluster) => {
  let system: Subject;
  beforeAll(async () => {
    system = await startSubject({ kubeconfig: cluster.kubeconfig });
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  it('with 12 contents make 12 versions, and each Deployment runs its own', async () => {
    await using namespace = await createNamespace('versions');
    const ids = await Promise.all(
      numbers.map((number) => system.postOperations(toDeploy(system, namespace.name, { number }))),
    );
    const tasks = await Promise.all(ids.map((id) => system.waitForTask(id, { timeoutMs: 120_000 })));

    expect(tasks.map(({ status }) => status.status)).toEqual(tasks.map(() => 'Orchestration completed.'));
    const contents = await readContents(namespace.name);
    const versions = numbers.map((number) => `flags-v${number.padStart(3, '0')}`);
    expect([...contents.keys()].sort()).toEqual(versions);
    expect([...contents.values()].sort()).toEqual(numbers.toSorted());
    for (const [index, number] of numbers.entries()) {
      const mounted = await readMounted(namespace.name, `web-${number}`);
      expect(contents.get(mounted)).toBe(number);
      const [result] = tasks[index]?.resultObjects ?? [];
      expect(result).toMatchObject({
        createdArtifacts: [{ name: 'flags', reference: mounted }, {}],
        boundArtifacts: [{ name: 'flags', reference: mounted }],
      });
    }
  });

  it('with one content make one version, which all of them run', async () => {
    await using namespace = await createNamespace('versions');
    const operations = numbers.map((number) =>
      toDeploy(system, namespace.name, { number, content: 'the same' }),
    );
    const ids = await Promise.all(operations.map((each) => system.postOperations(each)));
    await Promise.all(ids.map((id) => system.waitForTask(id, { timeoutMs: 120_000 })));

    expect([...(await readContents(namespace.name))]).toEqual([['flags-v000', 'the same']]);
    for (const number of numbers) {
      expect(await readMounted(namespace.name, `web-${number}`)).toBe('flags-v000');
    }
  });
});

/** A ConfigMap `flags` with this content, and a Deployment of the number that mounts it. */
function toDeploy(
  { accounts: [account] }: Pick<Subject, 'accounts'>,
  namespace: string,
  { number, content = number }: { readonly number: string; readonly content?: string },
): object[] {
  const flags = createConfigMap('flags', { content }, { namespace });
  const more = { volumes: [{ name: 'flags', configMap: { name: 'flags' } }] };
  const web = createWorkload('Deployment', `web-${number}`, { namespace, replicas: 0, more });
  return [{ deployManifest: { account, moniker: { app: 'web' }, manifests: [flags, web] } }];
}

async function readContents(namespace: string): Promise<Map<string, string>> {
  const { items } = await openApi(CoreV1Api).listNamespacedConfigMap({ namespace });
  const contents = items.map(
    ({ metadata, data }) => [metadata?.name ?? '', data?.['content'] ?? ''] as const,
  );
  return new Map(contents.filter(([name]) => name.startsWith('flags-')));
}

async function readMounted(namespace: string, name: string): Promise<string> {
  const { spec } = await openApi(AppsV1Api).readNamespacedDeployment({ namespace, name });
  return spec?.template.spec?.volumes?.[0]?.configMap?.name ?? '';
}
