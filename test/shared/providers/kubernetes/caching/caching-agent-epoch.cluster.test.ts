import { beforeEach, describe, expect, test } from 'vitest';
import { parseRevision, toRevision } from '#caching/store/revision.ts';
import { startCluster } from '#infra/tools/test-cluster/cluster.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { describeWithCluster, runKubectl } from '#test/support/cluster/cluster.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { disposeAfterEach } from '#test/support/run/disposal.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { type ScriptedServer, startScriptedServer } from '../client/scripted-server.ts';
import { type AgentBench, openAgentBench, readCached } from './caching-agent-bench.ts';
import { answerAs, createWorld, type World } from './scripted-world.ts';

const openTable = useLocalTables();

describe('a caching agent and the epochs of its cluster', () => {
  let server: ScriptedServer;
  let world: World;
  let bench: AgentBench;
  const account = { kinds: ['configMap'], namespaces: ['shop'] };
  const cacheSettings = { cacheAll: true };

  beforeEach(async () => {
    world = createWorld();
    server = await startScriptedServer();
    server.script((response, request) => answerAs(world, request.path)(response, request));
    bench = openAgentBench({
      engine: openTable(cacheTable),
      account: { ...account, ...access() },
      cacheSettings,
    });
  });
  disposeAfterEach(() => [bench, server]);

  const access = () => ({ kubeconfigContents: server.getKubeconfig() });
  const read = (): Promise<string[]> => readCached(bench, 'configMap');
  const getEpoch = async (): Promise<number> => (await bench.cache.getEpoch(bench.account))?.epoch ?? 0;

  test('begins the first one in the minutes since 1970, and notes the cluster', async () => {
    await bench.run();
    expect(await bench.cache.getEpoch(bench.account)).toEqual({
      epoch: Math.floor(bench.clock.now() / 60_000),
      identity: 'cluster-1',
    });
    expect(await read()).toEqual(['one@5']);
  });

  test('begins another one where the account stands for another cluster', async () => {
    world.now = 900;
    world.objects.set('two', 800);
    await bench.run();
    const first = await getEpoch();
    world.uid = 'cluster-2';
    world.now = 950;
    world.objects.clear();
    world.objects.set('two', 3);
    await bench.run();
    expect(await read()).toEqual(['two@3']);
    expect(await getEpoch()).toBeGreaterThan(first);
    const heads = [];
    for await (const page of bench.cache.listHeads(bench.account, 'configMap')) heads.push(...page);
    expect(heads.map(({ revision }) => parseRevision(revision))).toEqual([
      { epoch: await getEpoch(), position: '3' },
    ]);
  });

  test('begins another one where the cluster went back in time, whether it has a name or not', async () => {
    for (const uid of ['cluster-1', undefined]) {
      Object.assign(world, { uid, now: 900 });
      world.objects.set('two', 850);
      await bench.run();
      const before = await getEpoch();
      world.now = 40;
      world.objects.delete('two');
      expect(await bench.run()).toMatchObject({ outcome: 'done' });
      expect(await read()).toEqual(['one@5']);
      expect(await getEpoch()).toBeGreaterThan(before);
    }
  });

  test('says so when the cluster was restored to numbers behind its own', async () => {
    world.now = 900;
    await bench.run();
    world.now = 40;
    const proof = 'the newest resource version of configMap in shop is lower than 900, which it had before';
    expect((await bench.run()).details?.['restored']).toMatch(new RegExp(`^20.*Z: ${proof}$`));
  });

  describe('of a cluster that was restored and has caught up in numbers', () => {
    const proof = 'configMap two in shop has resource version 8 in a list of 30, and had 15 before';

    /** Caches what is lost then: an object changed at 15, one created at 17; one deleted at 18 is back. */
    const restore = async (): Promise<number> => {
      world.objects.set('two', 8).set('back', 4);
      world.now = 10;
      await bench.run();
      Object.assign(world, { now: 20 });
      world.objects.set('two', 15).set('lost', 17).delete('back');
      await bench.cache.deleteObject(toKey('back'), toRevision(await getEpoch(), '18'));
      await bench.run();
      expect(await read()).toEqual(['lost@17', 'one@5', 'two@15']);
      world.now = 30;
      world.objects.set('two', 8).set('back', 4).set('new', 28).delete('lost');
      return getEpoch();
    };
    const toKey = (name: string) => ({ account: bench.account, kind: 'configMap', location: 'shop', name });

    test('begins another one when a list shows it, and says so for a day', async () => {
      const before = await restore();
      world.isExpired = true;
      const result = await bench.run();
      expect(result).toMatchObject({ outcome: 'done', items: 4 });
      expect(result.details?.['restored']).toMatch(new RegExp(`^20.*Z: ${proof}$`));
      expect(await read()).toEqual(['back@4', 'new@28', 'one@5', 'two@8']);
      expect(await getEpoch()).toBeGreaterThan(before);
      const raised = await getEpoch();
      expect((await bench.run()).details?.['restored']).toContain(proof);
      bench.clock.advance(25 * 3600_000);
      expect((await bench.run()).details).not.toHaveProperty('restored');
      expect(await getEpoch()).toBe(raised);
    });

    test('begins another one when the check shows it, though watches tell nothing', async () => {
      const before = await restore();
      await bench.run();
      expect(await read()).toContain('two@15');
      bench.clock.advance(66 * 60_000);
      const result = await bench.run();
      expect(result.details?.['restored']).toContain(proof);
      expect(await read()).toEqual(['back@4', 'new@28', 'one@5', 'two@8']);
      expect(await getEpoch()).toBeGreaterThan(before);
    });

    test('has all kinds listed anew when a list of one shows it', async () => {
      await bench[Symbol.asyncDispose]();
      bench = openAgentBench({
        engine: openTable(cacheTable),
        account: { kinds: ['configMap', 'service'], namespaces: ['shop'], ...access() },
        cacheSettings,
      });
      await restore();
      // Of services watches go on, and tell of nothing but what is new.
      server.script((response, request) => {
        const isExpired = request.path.includes('/configmaps');
        return answerAs({ ...world, isExpired }, request.path)(response, request);
      });
      expect((await bench.run()).details?.['restored']).toContain(proof);
      expect(await readCached(bench, 'service')).toEqual(['back@4', 'new@28', 'one@5', 'two@8']);
    });

    test('asks for a run of its own to list', async () => {
      const before = await restore();
      world.isExpired = true;
      expect(await bench.run({ isAlone: false })).toMatchObject({ outcome: 'listing' });
      expect(await getEpoch()).toBeGreaterThan(before);
      world.isExpired = false;
      expect((await bench.run()).details?.['restored']).toContain(proof);
      expect(await read()).toEqual(['back@4', 'new@28', 'one@5', 'two@8']);
    });

    test('believes no list for a while after that, whatever its numbers are', async () => {
      await restore();
      world.isExpired = true;
      await bench.run();
      const raised = await getEpoch();
      bench.clock.advance(2 * 60_000);
      world.now = 40;
      world.objects.set('two', 35);
      await bench.run();
      world.now = 41;
      world.objects.set('two', 34);
      await bench.run();
      expect(await read()).toContain('two@35');
      expect(await getEpoch()).toBe(raised);
      bench.clock.advance(9 * 60_000);
      world.now = 42;
      await bench.run();
      expect(await getEpoch()).toBeGreaterThan(raised);
      expect(await read()).toContain('two@34');
    });
  });

  test('begins no other one for what was written after the list was made', async () => {
    await bench.run();
    const before = await getEpoch();
    const key = { account: bench.account, kind: 'configMap', location: 'shop', name: 'one' };
    const [one] = await bench.cache.getObjects([key], { consistent: true });
    const overtake = (at: number) =>
      bench.cache.putObject({ key, revision: toRevision(before, String(at)), body: one?.readBody() ?? '' });
    Object.assign(world, { now: 20, isExpired: true });
    await overtake(21);
    expect((await bench.run()).details).not.toHaveProperty('restored');
    world.now = 25;
    world.objects.set('one', 22);
    bench.clock.advance(66 * 60_000);
    world.onList = () => {
      world.onList = () => undefined;
      void overtake(26);
      return undefined;
    };
    expect((await bench.run()).details).not.toHaveProperty('restored');
    expect(await getEpoch()).toBe(before);
  });

  test('knows a cluster by the name that it could read once, though the epoch began without', async () => {
    world.uid = undefined;
    await bench.run();
    world.uid = 'cluster-1';
    await bench.run();
    const before = await getEpoch();
    world.uid = undefined;
    await bench.run();
    expect(await getEpoch()).toBe(before);
    world.uid = 'cluster-2';
    await bench.run();
    expect(await getEpoch()).toBeGreaterThan(before);
  });

  test('begins anew, in the same epoch, when another agent began one', async () => {
    await bench.run();
    await bench.cache.raiseEpoch(bench.account, { epoch: (await getEpoch()) + 7, identity: 'cluster-1' });
    const before = await getEpoch();
    world.objects.delete('one');
    world.objects.set('two', 7);
    expect(await bench.run({ isAlone: false })).toMatchObject({ outcome: 'listing' });
    await bench.run();
    expect(await read()).toEqual(['two@7']);
    expect(await getEpoch()).toBe(before);
  });

  test('lists what the watch says has expired, inside of an answer that began well', async () => {
    await bench.run();
    Object.assign(world, { now: 20, isExpired: true });
    world.objects.set('two', 15);
    expect(await bench.run()).toMatchObject({ outcome: 'done' });
    expect(await read()).toEqual(['one@5', 'two@15']);
  });

  test('asks the API server for one object, and the cache for nothing but the epoch, where nothing changed', async () => {
    await bench.run();
    const sent = server.seen.length;
    const calls: string[] = [];
    const cache = new Proxy(bench.cache, {
      get: (store, name) => {
        calls.push(String(name));
        return Reflect.get(store, name);
      },
    });
    const before = bench.clock.now();
    const result = await bench.run({ cache, isAlone: false });
    expect(server.seen.slice(sent).map(({ path }) => path)).toEqual([
      '/api/v1/namespaces/kube-system',
      '/api/v1/namespaces/shop/configmaps?limit=1',
    ]);
    // What it found unreadable the process knows: no store is asked.
    expect(calls).toEqual(['getEpoch', 'takeUnreadable']);
    expect(result).toMatchObject({ outcome: 'done', changes: 0, items: 1 });
    expect(result.asOfMs).toBeGreaterThanOrEqual(before);
  });

  test('finds what is wrong with the cache, repairs and counts it, once an hour', async () => {
    world.objects.set('two', 6).set('three', 7);
    await bench.run();
    const epoch = await getEpoch();
    const toKey = (name: string) => ({ account: bench.account, kind: 'configMap', location: 'shop', name });
    const [two] = await bench.cache.getObjects([toKey('two')], { consistent: true });
    // One that is out of date, one that is not there, and one that comes while it is looked for.
    world.objects.set('three', 8);
    await bench.cache.putObject({
      key: toKey('ghost'),
      revision: toRevision(epoch, '4'),
      body: two?.readBody() ?? '',
    });
    expect((await bench.run()).drift).toBeUndefined();
    bench.clock.advance(66 * 60_000);
    expect(await bench.run({ isAlone: false })).toMatchObject({ outcome: 'listing' });
    world.onList = () => {
      world.now = 12;
      world.objects.set('four', 12);
      return undefined;
    };
    expect(await bench.run()).toMatchObject({ outcome: 'done', items: 4, drift: 2 });
    expect(await read()).toEqual(['four@12', 'one@5', 'three@8', 'two@6']);
    expect((await bench.run()).drift).toBeUndefined();
    bench.clock.advance(66 * 60_000);
    expect(await bench.run()).toMatchObject({ drift: 0 });
  });

  test('finds it at once where somebody asks for that, and says so until it looks again', async () => {
    expect(await bench.cache.requestComparison(bench.account, bench.clock.now())).toBe(false);
    await bench.run();
    await bench.run();
    world.objects.set('one', 6);
    expect((await bench.run()).details).not.toHaveProperty('compared');
    expect(await bench.cache.requestComparison(bench.account, bench.clock.now())).toBe(true);
    expect(await bench.run({ isAlone: false })).toMatchObject({ outcome: 'listing' });
    const { drift, details: { compared = '' } = {} } = await bench.run();
    expect([drift, compared]).toEqual([1, expect.stringMatching(/^20.*Z: 1 wrong$/)]);
    expect(await read()).toEqual(['one@6']);
    bench.clock.advance(60_000);
    const next = await bench.run();
    expect([next.drift, next.details?.['compared']]).toEqual([undefined, compared]);
    // In an epoch that begins afterwards all is listed, and that is enough.
    await bench.cache.requestComparison(bench.account, bench.clock.now());
    await bench.cache.raiseEpoch(bench.account, { epoch: (await getEpoch()) + 1, identity: 'cluster-1' });
    const lists: string[] = [];
    world.onList = () => void lists.push('list');
    expect((await bench.run()).details?.['compared']).toMatch(/: 0 wrong$/);
    expect(lists).toHaveLength(1);
  });

  test('begins another epoch when something that is there counts as deleted', async () => {
    await bench.run();
    const epoch = await getEpoch();
    const key = { account: bench.account, kind: 'configMap', location: 'shop', name: 'one' };
    await bench.cache.deleteObject(key, toRevision(epoch, '6'));
    bench.clock.advance(66 * 60_000);
    expect(await bench.run()).toMatchObject({ drift: 1 });
    await bench.run();
    expect(await read()).toEqual(['one@5']);
    expect(await getEpoch()).toBeGreaterThan(epoch);
  });
});

describeWithCluster('a caching agent and a cluster of its own', () => {
  test('lists each kind once after the API server restarted, and misses nothing', {
    timeout: 120_000,
  }, async () => {
    await using dir = await makeTempDir();
    const first = await startCluster({ dir: dir.path, report: () => undefined });
    const port = Number(new URL(first.server).port);
    await using bench = openAgentBench({
      engine: openTable(cacheTable),
      account: { kubeconfigFile: first.kubeconfig, kinds: ['service', 'deployment', 'pod'] },
    });
    await runKubectl(first, ['create', 'deployment', 'web', '--image=registry.test/web:1']);
    await bench.run();
    await runKubectl(first, ['create', 'deployment', 'next', '--image=registry.test/web:1']);
    await first[Symbol.asyncDispose]();
    await expect(bench.run()).rejects.toThrow(`127.0.0.1:${port}`);
    await using second = await startCluster({ dir: dir.path, port, report: () => undefined });
    await runKubectl(second, ['delete', 'deployment', 'web']);
    expect(await bench.run()).toMatchObject({ outcome: 'done', details: { kinds: 4 } });
    const names = (await readCached(bench, 'deployment', 'default')).map((found) => found.split('@')[0]);
    expect(names).toEqual(['next']);
  });
});
