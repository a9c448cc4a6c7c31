import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { getPath, type JsonObject } from '#core/json.ts';
import { findLive, getPathOf, listNames } from '#test/shared/providers/kubernetes/live.ts';
import {
  createConfigMap,
  createService,
  createWorkload,
} from '#test/shared/providers/kubernetes/manifests.ts';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { createRandom, drawInteger } from '#test/support/run/seeded-random.ts';
import { startSystem } from '#test/support/system/system.ts';
import { KilledSystem } from '../v1/blue-green/killed-system.ts';

/** Other moments: `KILL_SEED=… npx vitest run test/acceptance/kubernetes/back-out.slow.test.ts`. */
const seed = Number(process.env['KILL_SEED'] ?? 35);
const killsOfEach = 10;

describeWithCluster(
  'an account that goes from one Clouddriver to another and back, each with data of its own',
  (cluster) => {
    it(`keeps versions and traffic at every step, through ${2 * killsOfEach} kills (seed ${seed})`, async () => {
      await using stack = new AsyncDisposableStack();
      const random = createRandom(seed);
      const { name: namespace } = stack.use(await createNamespace('back-out'));
      // Slow calls keep operations in flight when a process dies.
      const proxy = stack.use(await startApiProxy(cluster, { getDelayMs: () => drawInteger(random, 5, 60) }));
      const account = {
        name: 'moved',
        namespaces: [namespace],
        kubeconfigContents: await readFile(proxy.kubeconfig, 'utf8'),
      };
      const settings = { kubernetes: { accounts: [account] } };
      const sides = [
        stack.use(await startSystem({ settings })),
        stack.use(await startSystem({ settings })),
      ].map((system) => new KilledSystem(system));
      await requestApi(
        'POST',
        getPathOf(namespace, 'services'),
        createService('web', { serves: 'web' }, { namespace }),
      );
      let isOver = false;
      let step = 0;

      const run = async (operation: string, description: object) => {
        const side = sides[step % 2];
        const ended = await side?.run(
          operation,
          { account: 'moved', ...description },
          `${namespace}-${step}-${operation}`,
        );
        expect(ended?.status, `step ${step}: ${operation}`).toMatchObject({ completed: true, failed: false });
      };
      const walk = async (): Promise<void> => {
        for (; !isOver || step % 2 === 1; step += 1) {
          await run('deployManifest', toVersion(namespace, step));
          if (step > 0)
            await run('disableManifest', {
              location: namespace,
              manifestName: `replicaSet ${toName('web', step - 1)}`,
            });
          expect(await readTraffic(namespace), `step ${step}`).toEqual({
            serving: [toName('web', step)],
            settings: toName('settings', step),
          });
        }
      };
      const killing = Promise.all(sides.map((side) => side.keepKilling(killsOfEach, random))).finally(() => {
        isOver = true;
      });
      await Promise.all([walk(), killing]);

      const versions = (name: string) => Array.from({ length: step }, (_, version) => toName(name, version));
      expect(await listNames(namespace, 'configmaps')).toEqual(versions('settings'));
      expect(await listNames(namespace, 'replicasets')).toEqual(versions('web'));
      expect(await findLive(namespace, `configmaps/${toName('settings', step - 1)}`)).toMatchObject({
        data: { step: `${step - 1}` },
      });
    }, 300_000);
  },
);

function toName(name: string, version: number): string {
  return `${name}-v${String(version).padStart(3, '0')}`;
}

/** A deploy of a new version of both, as Orca asks for it with red/black. */
function toVersion(namespace: string, step: number): object {
  const env = [{ configMapRef: { name: 'settings' } }];
  const web = createWorkload('ReplicaSet', 'web', {
    namespace,
    replicas: 1,
    image: `registry.test/web:${step}`,
  });
  const template = getPath(web, 'spec', 'template') as JsonObject;
  const containers = [{ name: 'main', image: `registry.test/web:${step}`, envFrom: env }];
  return {
    moniker: { app: 'shop' },
    ...{ services: ['service web'], enableTraffic: true, strategy: 'RED_BLACK' },
    manifests: [
      createConfigMap('settings', { step: `${step}` }, { namespace }),
      { ...web, spec: { ...(web.spec as JsonObject), template: { ...template, spec: { containers } } } },
    ],
  };
}

/** ReplicaSets that the service sends traffic to, and the ConfigMap that the last of them reads. */
async function readTraffic(
  namespace: string,
): Promise<{ readonly serving: string[]; readonly settings: unknown }> {
  const list = (await requestApi('GET', getPathOf(namespace, 'replicasets'))) as {
    readonly items: JsonObject[];
  };
  const serving = list.items.filter(
    (item) => getPath(item, 'spec', 'template', 'metadata', 'labels', 'serves') === 'web',
  );
  const [container] = (getPath(serving.at(-1), 'spec', 'template', 'spec', 'containers') ??
    []) as JsonObject[];
  const [source] = (container?.['envFrom'] ?? []) as JsonObject[];
  return {
    serving: serving.map((item) => String(getPath(item, 'metadata', 'name'))).sort(),
    settings: getPath(source, 'configMapRef', 'name'),
  };
}
