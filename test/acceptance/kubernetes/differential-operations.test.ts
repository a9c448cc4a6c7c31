import { afterAll, beforeAll, test } from 'vitest';
import { getOperation, openProvider } from '#test/shared/providers/kubernetes/provider-setup.ts';
import { createNamespace, describeWithCluster, type TestNamespace } from '#test/support/cluster/cluster.ts';
import { listCases, runByBusdriver, runByKubectl } from './differential/operation-case.ts';

const cases = listCases();

describeWithCluster('operations leave what kubectl leaves', ({ kubeconfig }) => {
  const provider = openProvider([{ name: 'test', kubeconfigFile: kubeconfig }]);
  const namespaces: TestNamespace[] = [];

  beforeAll(async () => {
    namespaces.push(await createNamespace('by-kubectl'), await createNamespace('by-busdriver'));
  });

  afterAll(async () => {
    for (const namespace of namespaces) await namespace[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
  });

  test.concurrent.for(cases)('$title', async (each, { expect: expectHere }) => {
    const [byKubectl = '', byBusdriver = ''] = namespaces.map(({ name }) => name);
    const [expected, actual] = await Promise.all([
      runByKubectl(each, byKubectl),
      runByBusdriver(each, byBusdriver, (name) => getOperation(provider, name)),
    ]);
    const message = `Busdriver: ${actual.problem}; kubectl: ${expected.problem}`;
    expectHere(expected.failed, message).toBe(each.fails ?? false);
    expectHere(actual.failed, message).toBe(expected.failed);
    expectHere(actual.object, message).toEqual(expected.object);
  });
});
