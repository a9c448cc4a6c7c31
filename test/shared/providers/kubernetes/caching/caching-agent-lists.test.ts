import { beforeEach, describe, expect, test } from 'vitest';
import { createConcurrencyLimit } from '#core/concurrency.ts';
import { ItemTable } from '#platform/aws/table.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { disposeAfterEach } from '#test/support/run/disposal.ts';
import {
  type Answer,
  answerJson,
  answerStatus,
  type ScriptedServer,
  startScriptedServer,
} from '../client/scripted-server.ts';
import { type AgentBench, openAgentBench, readCached } from './caching-agent-bench.ts';
import { answerAs, createWorld, type World } from './scripted-world.ts';

const openTable = useLocalTables();
const minuteMs = 60_000;

describe('what a caching agent does', () => {
  let server: ScriptedServer;
  let world: World;
  let bench: AgentBench;

  beforeEach(async () => {
    world = createWorld();
    server = await startScriptedServer();
    server.script((response, request) => answerAs(world, request.path)(response, request));
    bench = openBench();
  });
  disposeAfterEach(() => [bench, server]);

  function openBench(before?: AgentBench): AgentBench {
    return openAgentBench({
      engine: openTable(cacheTable),
      account: { kinds: ['configMap'], namespaces: ['shop'], kubeconfigContents: server.getKubeconfig() },
      cacheSettings: { cacheAll: true },
      ...(before && { before }),
    });
  }

  /** The next agent, for these kinds. */
  function openFor(kinds: string[], setup: NonNullable<Parameters<typeof openAgentBench>[0]['setup']> = {}) {
    const account = { namespaces: ['shop'], kinds, kubeconfigContents: server.getKubeconfig() };
    return openAgentBench({ engine: openTable(cacheTable), account, before: bench, setup });
  }

  const read = (): Promise<string[]> => readCached(bench, 'configMap');
  const createTable = (): ItemTable => {
    const { openDocuments, tableName } = openTable(cacheTable);
    return new ItemTable(openDocuments(), tableName);
  };
  const seenSince = (sent: number): string[] => server.seen.slice(sent).map(({ path }) => path);

  test('with a list that begins anew in the midst of it: nothing of it is lost, and nothing stays', async () => {
    world.pageSize = 2;
    for (const [name, revision] of Object.entries({ two: 6, three: 7, four: 8 }))
      world.objects.set(name, revision);
    world.onList = (page) => {
      if (page === 0 || world.now > 10) return undefined;
      // The snapshot is gone; so is what its first page had.
      world.now = 20;
      world.objects.delete('one');
      world.objects.set('five', 19);
      return 410;
    };
    expect(await bench.run()).toMatchObject({ outcome: 'done', items: 4 });
    expect(await read()).toEqual(['five@19', 'four@8', 'three@7', 'two@6']);
  });

  test('with a list that breaks off: what is cached stays, and the next run lists again', async () => {
    world.pageSize = 1;
    world.objects.set('two', 6);
    await bench.run();
    Object.assign(world, { now: 20, isExpired: true });
    world.objects.delete('one');
    world.objects.set('three', 19);
    world.onList = (page) => (page === 1 ? 422 : undefined);
    const failed = await bench.run();
    expect(failed).toMatchObject({
      error: expect.stringMatching(/^could not be read: configMap: .*Refused/),
    });
    expect(await read()).toEqual(['one@5', 'two@6']);
    world.onList = () => undefined;
    expect((await bench.run()).error).toBeUndefined();
    expect(await read()).toEqual(['three@19', 'two@6']);
  });

  test('with a kind that does not change: its resource version is moved before it expires, and only then', async () => {
    await bench.run();
    world.now = 50;
    const watched = (paths: readonly string[]): string[] => paths.filter((path) => path.includes('watch='));
    // Nothing is told, and no bookmark is sent by watches of a second.
    world.isSilent = true;
    let sent = server.seen.length;
    await bench.run();
    expect(watched(seenSince(sent))).toEqual([expect.stringMatching(/resourceVersion=10&timeoutSeconds=1$/)]);
    bench.clock.advance(5 * minuteMs);
    world.isSilent = false;
    sent = server.seen.length;
    await bench.run();
    expect(watched(seenSince(sent))).toEqual([expect.stringMatching(/resourceVersion=10&timeoutSeconds=3$/)]);
    sent = server.seen.length;
    world.now = 51;
    await bench.run();
    expect(watched(seenSince(sent))).toEqual([expect.stringMatching(/resourceVersion=50&timeoutSeconds=1$/)]);
  });

  test('with what another release left and nobody can read: it lists everything anew, once', async () => {
    await bench.run();
    const table = createTable();
    const key = { pk: `KINDS#${bench.account}`, sk: 'KINDS' };
    const other = JSON.stringify([['kinds', [['configMap', 0]]]]);
    await table.put({ ...(await table.get(key)), ...key, topics: other });
    bench = openBench(bench);
    const epoch = await bench.cache.getEpoch(bench.account);
    expect(await bench.cache.listKinds(bench.account)).toEqual([]);
    await bench.run();
    const raised = await bench.cache.getEpoch(bench.account);
    expect(raised?.epoch).toBeGreaterThan(epoch?.epoch ?? 0);
    expect(await bench.cache.listKinds(bench.account)).toEqual(['configMap']);
    expect(await read()).toEqual(['one@5']);
    await bench.run();
    expect(await bench.cache.getEpoch(bench.account)).toEqual(raised);
  });

  test('with some kinds that cannot be read: others go on, and it tells', async () => {
    bench = openFor(['service', 'pod', 'job']);
    await bench.run();
    const ranMs = Date.now();
    server.script((response, request) => {
      const isBroken = request.path.includes('/jobs');
      const answer = isBroken ? answerStatus(422, 'Broken') : answerAs(world, request.path);
      answer(response, request);
    });
    Object.assign(world, { now: 20 });
    world.objects.set('two', 19);
    const second = await bench.run();
    expect(second).toMatchObject({
      outcome: 'done',
      details: { broken: expect.stringMatching(/^job: .*Broken/) },
    });
    expect(second.error).toBeUndefined();
    // Jobs are as they were listed, some time during the first run.
    expect(second.asOfMs).toBeLessThan(ranMs);
    expect(await readCached(bench, 'service')).toEqual(['one@5', 'two@19']);
    expect(await readCached(bench, 'job')).toEqual(['one@5']);
  });

  test('with a built-in kind that is gone: evicts it, unless the server says that it has it', async () => {
    bench = openFor(['job']);
    await bench.run();
    let kinds = ['Job'];
    server.script((response, request) => {
      const resources = kinds.map((kind) => ({ resource: 'jobs', responseKind: { kind }, verbs: [] }));
      const item = { metadata: { name: 'batch' }, versions: [{ version: 'v1', resources }] };
      const answers: Answer[] = [
        ...(request.path === '/apis'
          ? [answerJson(200, { kind: 'APIGroupDiscoveryList', items: [item] })]
          : []),
        ...(request.path.includes('/jobs') ? [answerStatus(404, 'NotFound')] : []),
        answerAs(world, request.path),
      ];
      answers[0]?.(response, request);
    });
    await bench.run();
    expect(await readCached(bench, 'job')).toEqual(['one@5']);
    kinds = [];
    await bench.run();
    expect(await readCached(bench, 'job')).toEqual([]);
  });

  test('with lists and hourly checks: each kind waits for room among those of its process', async () => {
    const limit = createConcurrencyLimit(1);
    let [running, most, count] = [0, 0, 0];
    const limitLists: typeof limit = (list) =>
      limit(async () => {
        running += 1;
        count += 1;
        most = Math.max(most, running);
        return list().finally(() => {
          running -= 1;
        });
      });
    bench = openFor(['service', 'pod', 'job'], { limitLists });
    expect(await bench.run()).toMatchObject({ outcome: 'done' });
    expect([count, most]).toEqual([3, 1]);
    bench.clock.advance(120 * minuteMs);
    expect(await bench.run()).toMatchObject({ outcome: 'done', drift: 0 });
    expect([count, most]).toEqual([6, 1]);
  });

  test('with a server that sends no bookmarks: it waits for one now and then only', async () => {
    await bench.run();
    Object.assign(world, { now: 50, isSilent: true });
    bench.clock.advance(5 * minuteMs);
    const sent = server.seen.length;
    await bench.run();
    await bench.run();
    const watched = seenSince(sent).filter((path) => path.includes('watch='));
    expect(watched).toEqual([
      expect.stringMatching(/resourceVersion=10&timeoutSeconds=3$/),
      expect.stringMatching(/resourceVersion=10&timeoutSeconds=1$/),
    ]);
  });

  test('with an application that lost something: its directory is looked at some minutes later', async () => {
    world.objects.set('web', 6);
    bench = openFor(['service']);
    const listApplications = async (): Promise<string[]> =>
      (await bench.cache.listApplications())
        .filter(({ account }) => account === bench.account)
        .map(({ application }) => application)
        .sort();
    await bench.run();
    expect(await listApplications()).toEqual(['one', 'web']);
    Object.assign(world, { now: 20, isExpired: true });
    world.objects.delete('web');
    await bench.run();
    expect(await readCached(bench, 'service')).toEqual(['one@5']);
    expect(await listApplications()).toEqual(['one']);
    expect(readWaiting()).toEqual(['web']);
    bench.clock.advance(6 * minuteMs);
    await bench.run();
    expect(readWaiting()).toEqual([]);
  });

  function readWaiting(): string[] {
    const [state = '{}'] = bench.states.values();
    return Object.keys(JSON.parse(state).waiting ?? {});
  }
});
