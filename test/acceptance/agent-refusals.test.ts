import { expect, test } from 'vitest';
import { describeWithCluster } from '../support/cluster.ts';
import { awaitSome, openCachedAccount } from './agent-drills/cached-account.ts';
import { recordHub } from './agent-drills/recorded-hub.ts';

const testMs = 240_000;
const caches = '/agent/v1/caches/edge';

describeWithCluster('an agent that keeps an account cached', () => {
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
});
