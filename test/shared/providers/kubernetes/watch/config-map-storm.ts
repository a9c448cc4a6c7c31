import { setTimeout as sleep } from 'node:timers/promises';
import { requestApi } from '#test/support/cluster/cluster.ts';

/**
 * Creates, changes and deletes config maps of a namespace, several at a time.
 *
 * @param changes how many in all
 */
export async function stormConfigMaps(namespace: string, changes: number): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const names = Array.from({ length: 8 }, (_, writer) => `storm-${writer}`);
  await Promise.all(
    names.map(async (prefix) => {
      const alive: string[] = [];
      for (let change = 0; change < changes / names.length; change += 1) {
        const [oldest = ''] = alive;
        if (change % 3 === 0) {
          const name = `${prefix}-${change}`;
          await requestApi('POST', path, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
          alive.push(name);
        } else if (change % 3 === 1 || alive.length < 3) {
          await requestApi('PATCH', `${path}/${oldest}`, { data: { change: `${change} ünd ☂` } });
        } else {
          await requestApi('DELETE', `${path}/${oldest}`);
          alive.shift();
        }
        await sleep(5);
      }
    }),
  );
}

/** Name and resource version of each config map of a namespace, as the API server has them now. */
export async function readConfigMaps(namespace: string): Promise<Map<string, string>> {
  const list = (await requestApi('GET', `/api/v1/namespaces/${namespace}/configmaps`)) as {
    items: { metadata: { name: string; resourceVersion: string } }[];
  };
  return new Map(list.items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
}
