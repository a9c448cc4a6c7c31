import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { getPath } from '#core/json.ts';
import { findLive, listNames } from '#test/shared/providers/kubernetes/live.ts';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { createRandom, drawInteger } from '#test/support/run/seeded-random.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { itLocally } from '#test/support/system/subject.ts';
import { startSystem } from '#test/support/system/system.ts';
import { KilledSystem } from './blue-green/killed-system.ts';
import { BlueGreenPipeline } from './blue-green/pipeline.ts';
import { watchBackends, watchControllers } from './blue-green/watched-objects.ts';

/** Other moments: `KILL_SEED=… npx vitest run test/acceptance/v1/v1-blue-green.slow.test.ts`. */
const seed = Number(process.env['KILL_SEED'] ?? 1);
const kills = chooseSize({ short: 8, long: 150 });
const application = 'shop';
const size = 3;
/** Pipelines that each kill interrupts. */
const pipelinesAtATime = chooseSize({ short: 2, long: 3 });

describeWithCluster('blue/green of a V1 account, as Orca put it together,', (cluster) => {
  itLocally('there is no one process')(
    `while the process is killed at ${kills} random moments (seed ${seed}): one server group of each name, and always a backend`,
    async () => {
      await using stack = new AsyncDisposableStack();
      const random = createRandom(seed);
      const namespaces = await Promise.all(
        Array.from({ length: pipelinesAtATime }, async () => stack.use(await createNamespace('blue-green'))),
      );
      // Slow calls keep operations in flight when the process dies.
      const delays = { getDelayMs: () => drawInteger(random, 10, 100) };
      const proxy = stack.use(await startApiProxy(cluster, delays));
      const account = {
        name: 'old',
        providerVersion: 'v1',
        serverGroupKind: 'ReplicationController',
        kubeconfigContents: await readFile(proxy.kubeconfig, 'utf8'),
        namespaces: namespaces.map(({ name }) => name),
        dockerRegistries: [{ accountName: 'hub' }],
      };
      const running = stack.use(await startSystem({ settings: { kubernetes: { accounts: [account] } } }));
      const system = new KilledSystem(running);
      let isOver = false;

      const play = async (namespace: string): Promise<void> => {
        await using backends = await watchBackends(cluster, namespace, application);
        await using controllers = await watchControllers(cluster, namespace);
        const place = { system, account: account.name, namespace, application, size, backends };
        const pipeline = new BlueGreenPipeline(place);
        await pipeline.start();
        do {
          await pipeline.advance();
          await pipeline.rollBack();
        } while (!isOver);

        expect([backends.end, controllers.end], 'the watches saw all of it').toEqual([undefined, undefined]);
        expect(backends.gaps, 'moments without a backend').toEqual([]);
        expect(controllers.made, 'server groups that were made').toEqual(pipeline.made);
        expect(await listNames(namespace, 'replicationcontrollers')).toEqual([pipeline.current]);
        await expectInService(namespace, pipeline.current);
      };
      const playing = Promise.all(namespaces.map(({ name }) => play(name)));
      const killing = system.keepKilling(kills, random).finally(() => {
        isOver = true;
      });
      await Promise.all([playing, killing]);
      expect(system.kills).toBe(kills);
    },
    600_000,
  );
});

/** Its template and all its pods say that they are in service, and no other pod is there. */
async function expectInService(namespace: string, name: string): Promise<void> {
  const label = `load-balancer-${application}`;
  const live = await findLive(namespace, `replicationcontrollers/${name}`);
  expect(getPath(live, 'spec', 'template', 'metadata', 'labels', label)).toBe('true');
  await expect.poll(() => listNames(namespace, 'pods')).toHaveLength(size);
  for (const pod of await listNames(namespace, 'pods')) {
    const { labels } = getPath(await findLive(namespace, `pods/${pod}`), 'metadata') as { labels: object };
    expect(labels).toMatchObject({ 'replication-controller': name, [label]: 'true' });
  }
}
