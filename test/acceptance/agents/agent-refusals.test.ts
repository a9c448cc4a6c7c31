import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { startApiProxy } from '../../support/cluster/api-proxy.ts';
import { describeWithCluster, requestApi } from '../../support/cluster/cluster.ts';
import { awaitSome, openCachedAccount } from './drills/cached-account.ts';
import { recordHub } from './drills/recorded-hub.ts';

const testMs = 240_000;
const caches = '/agent/v1/caches/edge';

describeWithCluster('an agent that keeps an account cached', (cluster) => {
  test.concurrent(
    'has not failed where Busdriver was away, and begins again at once',
    async () => {
      await using account = await openCachedAccount();
      let isAway = true;
      await using hub = await recordHub(account.system.url, {
        refuse: (call) => (isAway && call === `GET ${caches}/epoch` ? { status: 503 } : undefined),
      });
      await account.start({ url: hub.url });
      // All its tries are used up, and it says how that ended.
      const readEnd = (): string | undefined =>
        /"outcome":"(\w+)"/.exec(hub.said.get(`PUT ${caches}/claims`) ?? '')?.[1];
      expect(await awaitSome('the end of a run', readEnd)).toBe('STOPPED');
      expect(await account.show()).toMatchObject({ failures: 0, isStale: false });
      isAway = false;
      await account.untilCached();
    },
    testMs,
  );

  test.concurrent(
    'leaves out and names an object that is too large, and keeps all others',
    async () => {
      await using account = await openCachedAccount();
      const { namespace } = account;
      await makeService(namespace, 'small');
      // Of one letter they are small once they are packed: Busdriver sees how large they are, the agent does not.
      await makeService(namespace, 'huge', 6_000);
      await account.start();
      await account.untilCached();
      const findNamed = async (): Promise<true | undefined> =>
        String((await account.show())?.details['tooLarge']).includes(`service huge in ${namespace}`) ||
        undefined;
      await awaitSome('the object is named', findNamed);
      expect(await account.show()).toMatchObject({ failures: 0, isStale: false });
      await requestApi('DELETE', `${services(namespace)}/huge`);
      await account.awaitEquality();
    },
    testMs,
  );

  test.concurrent(
    'halves what is too large for one call, until the one object that is too large is left out and named',
    async () => {
      await using account = await openCachedAccount();
      const { namespace } = account;
      for (const name of ['one', 'two', 'three', 'wide', 'five']) await makeService(namespace, name);
      const sizes: number[] = [];
      await using hub = await recordHub(account.system.url, {
        refuse(call, body) {
          if (call !== `POST ${caches}/changes`) return undefined;
          const { changes } = JSON.parse(gunzipSync(body).toString()) as { changes: { name: string }[] };
          if (!changes.some(({ name }) => name === 'wide')) return undefined;
          sizes.push(changes.length);
          return { status: 413 };
        },
      });
      await account.start({ url: hub.url });
      await account.untilCached();
      const findNamed = async (): Promise<unknown> => (await account.show())?.details['tooLarge'];
      expect(await awaitSome('the object is named', findNamed)).toBe(`service wide in ${namespace}`);
      // Each list that has it begins with all of its kind.
      expect(sizes.slice(0, sizes.indexOf(1) + 1)).toEqual([5, 2, 1]);
      expect(await account.show()).toMatchObject({ failures: 0, isStale: false });
      await requestApi('DELETE', `${services(namespace)}/wide`);
      await account.awaitEquality();
    },
    testMs,
  );

  test.concurrent(
    'lists a kind anew, and no other, whose resource version the API server has forgotten',
    async () => {
      await using account = await openCachedAccount();
      const { namespace } = account;
      let isForgotten = false;
      const lists: string[] = [];
      await using proxy = await startApiProxy(cluster, {
        getFault({ path: target, query }) {
          const kind = target.split('/').at(-1) ?? '';
          if (query.includes('watch=') && kind === 'services' && isForgotten) {
            isForgotten = false;
            return { type: 'status', status: 410, message: 'too old resource version' };
          }
          if (target.includes('/namespaces/') && /(^|&)limit=(?!1(&|$))/.test(query)) lists.push(kind);
          return undefined;
        },
      });
      const first = await account.start({ kubeConfigFile: proxy.kubeconfig });
      await account.untilCached();
      await first.kill('SIGTERM');
      // It gave its lease back, so that another one may go on at once.
      expect((await account.show())?.leaseOwner).toBeUndefined();
      await makeService(namespace, 'meanwhile');
      lists.length = 0;
      isForgotten = true;
      await account.start({ kubeConfigFile: proxy.kubeconfig });
      await account.awaitEquality();
      expect(lists).toEqual(['services']);
    },
    testMs,
  );
});

function services(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/services`;
}

/** Makes a Service with labels of 63 letters. */
async function makeService(namespace: string, name: string, labels = 0): Promise<void> {
  const entries = Array.from({ length: labels }, (_, index) => [`label-${index}`, 'x'.repeat(63)]);
  const metadata = { name, labels: Object.fromEntries(entries) };
  await requestApi('POST', services(namespace), { metadata, spec: { ports: [{ port: 80 }] } });
}
