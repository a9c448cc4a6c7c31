import { readFile } from 'node:fs/promises';
import { afterEach, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { watchedEventsBytesMax } from '#providers/kubernetes/reads/watched-events.ts';
import { type ApiProxyOptions, type PassingCall, startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { readManifest } from '#test/support/providers/provider-set.ts';
import { createLive, getPathOf } from '../live.ts';
import { createConfigMap, createSecret } from '../manifests.ts';
import { openProvider, type ProviderSetup } from '../provider-setup.ts';

describeWithCluster('events about an object that is read again and again', (cluster) => {
  let closing = new AsyncDisposableStack();
  afterEach(async () => {
    await closing[Symbol.asyncDispose]();
    closing = new AsyncDisposableStack();
  });

  /** A ConfigMap `flags`, or another object, in a namespace of its own, read through a proxy that counts calls for events. */
  async function setUp(
    options: ApiProxyOptions & {
      readonly path?: string;
      readonly object?: object;
      readonly name?: string;
    } = {},
    setup: ProviderSetup = {},
  ) {
    const { path = 'configmaps', object = createConfigMap('flags', {}), name = 'configMap flags' } = options;
    const ns = closing.use(await createNamespace());
    const calls = { lists: 0, watches: 0 };
    const proxy = closing.use(
      await startApiProxy(cluster, {
        ...options,
        async before(call) {
          if (isWatch(call)) calls.watches += 1;
          else if (isList(call)) calls.lists += 1;
          await options.before?.(call);
        },
      }),
    );
    const provider = closing.use(
      openProvider([{ name: 'test', kubeconfigContents: await readFile(proxy.kubeconfig, 'utf8') }], setup),
    );
    await createLive(ns.name, path, object);
    const request = { account: 'test', location: ns.name, name, includeEvents: true, revealSecrets: false };
    return {
      calls,
      name: ns.name,
      async readReasons() {
        const view = await readManifest(provider, request);
        return (JSON.parse(JSON.stringify(view)) as { events: JsonObject[] }).events.map(
          ({ reason }) => reason,
        );
      },
      /** What the API server itself answers. */
      async listReasons() {
        const selector = encodeURIComponent('involvedObject.name=flags,involvedObject.kind=ConfigMap');
        const found = await requestApi('GET', `${getPathOf(ns.name, 'events')}?fieldSelector=${selector}`);
        return (found as { items: JsonObject[] }).items.map(({ reason }) => reason);
      },
      async postEvent(reason: string, { kind = 'ConfigMap', about = 'flags', message = '' } = {}) {
        await createLive(ns.name, 'events', {
          metadata: { name: reason.toLowerCase() },
          involvedObject: { kind, name: about, namespace: ns.name },
          reason,
          message,
          lastTimestamp: new Date().toISOString(),
        });
      },
      async deleteEvent(reason: string) {
        await requestApi('DELETE', `${getPathOf(ns.name, 'events')}/${reason.toLowerCase()}`);
      },
    };
  }

  type Subject = Awaited<ReturnType<typeof setUp>>;

  /** Reads until one read makes no call for events. */
  async function readUntilWatched({ calls, readReasons }: Subject): Promise<void> {
    const listsOfRead = async () => {
      const before = calls.lists;
      await readReasons();
      return calls.lists - before;
    };
    await expect.poll(listsOfRead).toBe(0);
  }

  test('are listed twice, then told by one watch: what comes, changes and goes is seen', async () => {
    const subject = await setUp();
    await subject.postEvent('First');
    await subject.postEvent('Other', { about: 'others' });
    await readUntilWatched(subject);
    const { lists } = subject.calls;
    expect(await subject.readReasons()).toEqual(['First']);
    await subject.postEvent('Second');
    await subject.postEvent('Another', { about: 'others' });
    await expect.poll(() => subject.readReasons()).toEqual(['First', 'Second']);
    await subject.deleteEvent('First');
    await expect.poll(() => subject.readReasons()).toEqual(['Second']);
    expect(await subject.listReasons()).toEqual(['Second']);
    expect(subject.calls).toEqual({ lists, watches: 1 });
  });

  test('are as the API server has them, each time one is written before the read', async () => {
    const subject = await setUp();
    await readUntilWatched(subject);
    const expected: string[] = [];
    for (let index = 0; index < 20; index += 1) {
      const reason = `Told${index}`;
      await subject.postEvent(reason);
      expected.push(reason);
      const found = await subject.readReasons();
      expect(found.toSorted()).toEqual(expected.toSorted());
    }
  });

  test('are listed until the server has begun to tell what changes', async () => {
    const begun = Promise.withResolvers<unknown>();
    const subject = await setUp({ before: (call) => (isWatch(call) ? begun.promise : Promise.resolve()) });
    for (let reads = 1; reads <= 5; reads += 1) {
      await subject.postEvent(`Told${reads}`);
      expect(await subject.readReasons()).toHaveLength(reads);
    }
    expect(subject.calls).toEqual({ lists: 5, watches: 1 });
    begun.resolve(undefined);
    await readUntilWatched(subject);
    expect(await subject.readReasons()).toHaveLength(5);
  });

  test('are listed again when the watch breaks', async () => {
    const over = Promise.withResolvers<void>();
    const subject = await setUp({ breaksWhen: (call) => (isWatch(call) ? over.promise : undefined) });
    await subject.postEvent('First');
    await readUntilWatched(subject);
    over.resolve();
    const { lists } = subject.calls;
    const listsSince = async () => {
      expect(await subject.readReasons()).toEqual(['First']);
      return subject.calls.lists - lists;
    };
    await expect.poll(listsSince).toBeGreaterThan(0);
    await subject.postEvent('Second');
    expect(await subject.readReasons()).toEqual(['First', 'Second']);
  });

  test('are listed where they may not be watched, which is tried once', async () => {
    let refused = 0;
    const refuse = (call: PassingCall) => {
      if (!isWatch(call)) return undefined;
      refused += 1;
      return 403;
    };
    const subject = await setUp({ refuse });
    for (let reads = 1; reads <= 6; reads += 1) {
      await subject.postEvent(`Told${reads}`);
      expect(await subject.readReasons()).toHaveLength(reads);
    }
    expect({ ...subject.calls, refused }).toEqual({ lists: 6, watches: 0, refused: 1 });
  });

  test('are listed where they are more than is kept', async () => {
    const subject = await setUp();
    const message = 'm'.repeat(1_000);
    const posts = Math.ceil(watchedEventsBytesMax / message.length);
    for (let index = 0; index < posts; index += 1) await subject.postEvent(`Told${index}`, { message });
    for (let reads = 1; reads <= 4; reads += 1) expect(await subject.readReasons()).toHaveLength(posts);
    expect(subject.calls).toEqual({ lists: 4, watches: 0 });
  });

  test('are listed each time in Lambda, where a process stands still between calls', async () => {
    const subject = await setUp({}, { placement: 'deployed' });
    for (let reads = 1; reads <= 4; reads += 1) await subject.readReasons();
    expect(subject.calls).toEqual({ lists: 4, watches: 0 });
  });

  test('are listed each time for a Secret: they may quote its values', async () => {
    const object = createSecret('flags', 'planted', {});
    const subject = await setUp({ path: 'secrets', object, name: 'secret flags' });
    for (let reads = 1; reads <= 4; reads += 1) await subject.readReasons();
    expect(subject.calls).toEqual({ lists: 4, watches: 0 });
  });
});

function isEvents({ method, path }: PassingCall): boolean {
  return method === 'GET' && path.endsWith('/events');
}

function isWatch(call: PassingCall): boolean {
  return isEvents(call) && call.query.includes('watch=1');
}

function isList(call: PassingCall): boolean {
  return isEvents(call) && !isWatch(call);
}
