import { expect, test } from 'vitest';
import { asJsonArray, asString, getPath } from '#core/json.ts';
import { builtInResources } from '#providers/kubernetes/api/built-in-resources.ts';
import { describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';

test('no version of a kind stands twice', () => {
  const keys = builtInResources.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`);
  expect(new Set(keys).size).toBe(keys.length);
});

describeWithCluster('the built-in resources', () => {
  test('are what the API server serves, each where it says', async () => {
    const known = new Map(builtInResources.map((each) => [`${each.apiVersion} ${each.kind}`, each]));
    const groups = asJsonArray(getPath(await requestApi('GET', '/apis'), 'groups'));
    const versions = groups
      .filter((group) => getPath(group, 'name') !== 'metrics.k8s.io' && !isCustom(getPath(group, 'name')))
      .flatMap((group) =>
        asJsonArray(getPath(group, 'versions')).map((each) => asString(getPath(each, 'groupVersion'))),
      );
    let compared = 0;
    for (const apiVersion of ['v1', ...versions]) {
      const path = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
      for (const resource of asJsonArray(getPath(await requestApi('GET', path), 'resources'))) {
        const plural = asString(getPath(resource, 'name')) ?? '';
        if (plural.includes('/')) continue;
        const kind = asString(getPath(resource, 'kind'));
        const namespaced = getPath(resource, 'namespaced');
        expect(known.get(`${apiVersion} ${kind}`)).toEqual({
          apiVersion,
          kind,
          plural,
          namespaced,
          builtIn: true,
        });
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(60);
  });
});

/** Groups of definitions that other tests have made: Kubernetes' own end in `.k8s.io` or have no dot. */
function isCustom(group: unknown): boolean {
  return typeof group === 'string' && group.includes('.') && !group.endsWith('.k8s.io');
}
