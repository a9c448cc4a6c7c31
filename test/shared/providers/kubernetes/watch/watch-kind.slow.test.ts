import { readFile } from 'node:fs/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { startCluster } from '#infra/tools/test-cluster/cluster.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import { catchUpKind } from '#providers/kubernetes/watch/catch-up-kind.ts';
import type { WatchClient } from '#providers/kubernetes/watch/watch-client.ts';
import {
  type KindProver,
  type KindWatchOutcome,
  type KindWatchRequest,
  type WatchProgress,
  watchKind,
} from '#providers/kubernetes/watch/watch-kind.ts';
import { createNamespace, describeWithCluster, runKubectl } from '#test/support/cluster/cluster.ts';
import { disposeAfterEach } from '#test/support/run/disposal.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { TurnedClock } from '../client/client-setup.ts';
import {
  type Answer,
  answerStatus,
  type ScriptedServer,
  startScriptedServer,
  toBase64,
  toKubeconfig,
} from '../client/scripted-server.ts';
import { startTcpForwarder } from '../transport/tcp-forwarder.ts';
import { readConfigMaps, stormConfigMaps } from './config-map-storm.ts';
import {
  answerList,
  answerOpenStream,
  answerStream,
  configMaps,
  createTestWatchClient,
  KeptKind,
  toErrorLine,
  toLine,
  toText,
} from './watch-setup.ts';

describe('watching a kind', () => {
  let server: ScriptedServer;
  let client: WatchClient;
  let aborter: AbortController;
  const told: string[] = [];
  const troubles: string[] = [];

  beforeEach(async () => {
    told.length = 0;
    troubles.length = 0;
    aborter = new AbortController();
    server = await startScriptedServer();
    client = createTestWatchClient({ kubeconfigContents: server.getKubeconfig() });
  });
  disposeAfterEach(() => [client, server]);

  /** Watches from 10 on, until so much progress was told. */
  function watch(steps: number, request: Partial<KindWatchRequest> = {}, clock = systemClock) {
    let left = steps;
    const usual: KindWatchRequest = {
      resource: configMaps,
      resourceVersion: '10',
      signal: aborter.signal,
      onProgress: ({ changes, resourceVersion, asOfMs }) => {
        told.push(`${changes.map(toText)} -> ${resourceVersion}${asOfMs === undefined ? '' : ' as of'}`);
        left -= 1;
        if (left <= 0) aborter.abort();
      },
      onTrouble: (error, failures) => void troubles.push(`${failures}: ${error.message}`),
    };
    return watchKind(
      { ...usual, ...request },
      { client, clock, randomness: { ...systemRandomness, fraction: () => 0.5 } },
    );
  }

  /** Reads and watches are answered apart. */
  function answer(reads: Answer, ...watches: Answer[]): void {
    server.script((response, request) => {
      if (!request.path.includes('watch=1')) reads(response, request);
      else (watches.length > 1 ? watches.shift() : watches[0])?.(response, request);
    });
  }

  function listWatched(): (string | null)[] {
    const urls = server.seen.map(({ path }) => new URL(path, 'http://x').searchParams);
    return urls.filter((query) => query.has('watch')).map((query) => query.get('resourceVersion'));
  }

  /** Ends as it should once it has been open for a second. */
  function answerOneSecond(...lines: string[]): Answer {
    return (response, request) => {
      answerOpenStream(...lines)(response, request);
      setTimeout(() => response.end(), 1_050);
    };
  }

  test('goes on from where the server ended a watch', async () => {
    answer(
      answerList('12'),
      answerOneSecond(toLine('ADDED', 'one@11'), toLine('BOOKMARK', '@13')),
      answerOpenStream(toLine('DELETED', 'one@14')),
    );
    expect(await watch(3)).toEqual({ outcome: 'aborted' });
    expect(told.join('\n')).toMatch(/^ADDED one@11 -> 1[13](.*\n -> 13)? as of\nDELETED one@14 -> 14$/);
    expect(listWatched()).toEqual(['10', '13']);
    expect(troubles).toEqual([]);
  });

  test('knows at once that nothing was written, and at the end of a watch that nothing came', async () => {
    answer(answerList('10'), answerOpenStream());
    expect(await watch(1)).toMatchObject({ outcome: 'aborted' });
    expect(told).toEqual([' -> 10 as of']);
    aborter = new AbortController();
    answer(answerList('12'), answerOneSecond());
    expect(await watch(1)).toMatchObject({ outcome: 'aborted' });
    expect(told).toEqual([' -> 10 as of', ' -> 10 as of']);
  });

  test('does not know how current it is when changes came and none of them was the newest', async () => {
    answer(
      answerList('20'),
      answerOneSecond(toLine('ADDED', 'one@11')),
      answerOpenStream(toLine('ADDED', 'two@21')),
    );
    await watch(2);
    expect(told).toEqual(['ADDED one@11 -> 11', 'ADDED two@21 -> 21 as of']);
  });

  test.each([
    { outcome: 'future', read: answerList('9'), watched: answerStream() },
    { outcome: 'expired', read: answerList('20'), watched: answerStream(toErrorLine(410, 'Expired')) },
    { outcome: 'expired', read: answerList('20'), watched: answerStatus(410, 'Expired') },
    { outcome: 'forbidden', read: answerList('20'), watched: answerStatus(403, 'Forbidden') },
    { outcome: 'forbidden', read: answerStatus(403, 'Forbidden'), watched: answerStream() },
    { outcome: 'gone', read: answerList('20'), watched: answerStatus(404, 'NotFound') },
  ])('ends where it is $outcome', async ({ outcome, read, watched }) => {
    answer(read, watched);
    expect(await watch(1)).toMatchObject({ outcome });
    expect(troubles).toEqual([]);
  });

  describe('on demand', () => {
    /** Begins to watch a server whose newest version is 20, and proves once all of this was told. */
    async function prove(until: readonly string[], ...watches: Answer[]): Promise<number> {
      answer(answerList('20'), ...watches);
      const proving = Promise.withResolvers<KindProver>();
      const watching = watch(100, { onProvable: proving.resolve });
      const proof = await proving.promise;
      await expect.poll(() => told).toEqual(until);
      const beganMs = performance.now();
      await proof();
      const tookMs = performance.now() - beganMs;
      aborter.abort();
      await watching;
      return tookMs;
    }

    test('proves at once that it has come as far as the server', async () => {
      const first = 'ADDED one@20 -> 20 as of';
      await prove([first], answerOpenStream(toLine('ADDED', 'one@20')));
      expect(told).toEqual([first, ' -> 20 as of']);
    });

    test('believes a watch that is silent for a while after the server was asked', async () => {
      const tookMs = await prove(['ADDED one@11 -> 11'], answerOpenStream(toLine('ADDED', 'one@11')));
      expect(tookMs).toBeGreaterThanOrEqual(390);
      expect(told).toEqual(['ADDED one@11 -> 11', ' -> 11 as of']);
    });

    test('waits for what is on its way', async () => {
      const late: Answer = (response, request) => {
        answerOpenStream(toLine('ADDED', 'one@11'))(response, request);
        for (const [index, version] of [12, 13, 20].entries())
          setTimeout(() => response.write(toLine('MODIFIED', `one@${version}`)), 700 + 250 * index);
      };
      await prove(['ADDED one@11 -> 11', 'MODIFIED one@12 -> 12'], late);
      const [, , ...rest] = told;
      expect(rest.slice(0, 2)).toEqual(['MODIFIED one@13 -> 13', 'MODIFIED one@20 -> 20 as of']);
      expect(rest.at(-1)).toBe(' -> 20 as of');
    });

    test('proves nothing while there is no watch', async () => {
      await prove([], answerStatus(500, 'InternalError'));
      expect(told).toEqual([]);
    });
  });

  test('learns in the midst of a watch that the server was set back', async () => {
    const reads = [answerList('20'), answerList('9')];
    answer((response, request) => reads.shift()?.(response, request), answerOpenStream());
    expect(await watch(1, { timeoutSeconds: 4.2 })).toMatchObject({ outcome: 'future' });
  });

  test('pauses longer after each failure, and starts over once it has worked', async () => {
    const clock = new TurnedClock();
    const refused = answerStatus(405, 'MethodNotAllowed');
    const broken: Answer = (response) => {
      response.writeHead(200).write(toLine('ADDED', 'one@11'), () => setImmediate(() => response.destroy()));
    };
    answer(
      answerList('20'),
      refused,
      refused,
      refused,
      broken,
      refused,
      answerOpenStream(toLine('ADDED', 'two@12')),
    );
    await watch(2, {}, clock);
    expect(clock.slept.filter((ms) => ms < 20_000)).toEqual([250, 500, 1_000, 250, 500]);
    expect(troubles.map((trouble) => trouble[0])).toEqual(['1', '2', '3', '1', '2']);
    expect(troubles[3]).toContain('the watch of ConfigMap broke off');
    expect(listWatched()).toEqual(['10', '10', '10', '10', '11', '11']);
  });

  test('does not press a server that ends watches at once', async () => {
    answer(answerList('20'), answerStream(), answerStream(), answerOpenStream(toLine('ADDED', 'one@11')));
    await watch(1);
    expect(troubles).toEqual(['1: the server ends watches at once', '2: the server ends watches at once']);
  });

  test('asks again whether the server is behind after a failure', async () => {
    const reads = [answerList('20'), answerList('9')];
    answer((response, request) => reads.shift()?.(response, request), answerStatus(405, 'MethodNotAllowed'));
    expect(await watch(1)).toMatchObject({ outcome: 'future' });
  });

  test('ends when its client is closed, though nobody aborted it', async () => {
    answer(answerList('20'), answerOpenStream(toLine('ADDED', 'one@11')));
    const watching = watch(100);
    await expect.poll(() => told).toEqual(['ADDED one@11 -> 11']);
    await client[Symbol.asyncDispose]();
    expect(await watching).toMatchObject({ outcome: 'aborted' });
  });

  test('throws what working on its progress throws', async () => {
    answer(answerList('20'), answerOpenStream(toLine('ADDED', 'one@11')));
    const onProgress = () => Promise.reject(new Error('the store is full'));
    await expect(watch(1, { onProgress })).rejects.toThrow('the store is full');
  });
});

describeWithCluster('watching a kind of a real API server', (cluster) => {
  test('sees every state in a storm, each at once, through connections that are cut', {
    timeout: 60_000,
  }, async () => {
    await using namespace = await createNamespace('watch');
    await using forwarder = await startTcpForwarder(Number(new URL(cluster.server).port));
    const authority = toBase64(await readFile(cluster.caFile, 'utf8'));
    const server = `https://127.0.0.1:${forwarder.port}`;
    const kubeconfigContents = toKubeconfig(
      { server, 'certificate-authority-data': authority },
      { token: cluster.token },
    );
    await using client = createTestWatchClient({ kubeconfigContents });
    const kept = new KeptKind();
    const scope = { resource: configMaps, namespace: namespace.name };
    const { position: resourceVersion = '' } = await catchUpKind(
      { ...scope, ...kept, resourceVersion: undefined },
      { client, clock: systemClock },
    );
    const aborter = new AbortController();
    let troubles = 0;
    const watching = watchKind(
      {
        ...scope,
        resourceVersion,
        signal: aborter.signal,
        onProgress: ({ changes }) => kept.onChanges(changes),
        onTrouble: () => {
          troubles += 1;
        },
      },
      { client, clock: systemClock, randomness: { ...systemRandomness, fraction: () => 0.01 } },
    );
    // On a busy machine a watch takes so long to begin; one that is cut before counts as no trouble.
    const cutting = setInterval(() => forwarder.cut(), 400);
    await stormConfigMaps(namespace.name, 480);
    clearInterval(cutting);
    await expect.poll(() => kept.objects).toEqual(await readConfigMaps(namespace.name));
    await stormConfigMaps(namespace.name, 8);
    const wanted = await readConfigMaps(namespace.name);
    // A few milliseconds; what comes only with the next round comes after half a minute.
    await expect.poll(() => kept.objects, { timeout: 10_000 }).toEqual(wanted);
    expect(kept.mistakes).toEqual([]);
    expect(troubles).toBeGreaterThan(0);
    aborter.abort();
    expect(await watching).toMatchObject({ outcome: 'aborted' });
  });

  test('knows of a kind that does not change how current it is', { timeout: 60_000 }, async () => {
    await using namespace = await createNamespace('watch');
    await using client = createTestWatchClient({ kubeconfigFile: cluster.kubeconfig });
    const scope = { resource: configMaps, namespace: namespace.name };
    const aborter = new AbortController();
    const asOf: number[] = [];
    const resourceVersion = await client.readResourceVersion(scope);
    const watching = watchKind(
      {
        ...scope,
        resourceVersion,
        timeoutSeconds: 5,
        signal: aborter.signal,
        onProgress: ({ asOfMs }) => void (asOfMs !== undefined && asOf.push(asOfMs)),
      },
      { client, clock: systemClock, randomness: systemRandomness },
    );
    await stormConfigMaps('default', 8);
    const startedAtMs = Date.now();
    await expect.poll(() => asOf.at(-1)).toBeGreaterThan(startedAtMs);
    aborter.abort();
    await watching;
    expect([...asOf].sort()).toEqual(asOf);
  });

  test('survives neither silently nor wrongly a restart of the API server', {
    timeout: 120_000,
  }, async () => {
    await using dir = await makeTempDir();
    const first = await startCluster({ dir: dir.path, report: () => undefined });
    const port = Number(new URL(first.server).port);
    await using client = createTestWatchClient({ kubeconfigFile: first.kubeconfig });
    const scope = { resource: configMaps, namespace: 'default' };
    const kept = new KeptKind();
    const tools = { client, clock: systemClock, randomness: systemRandomness };
    const { position: resourceVersion = '' } = await catchUpKind(
      { ...scope, ...kept, resourceVersion: undefined },
      tools,
    );
    const { promise: trouble, resolve: onTrouble } = Promise.withResolvers<unknown>();
    const progress: WatchProgress[] = [];
    const request = { ...scope, resourceVersion, signal: new AbortController().signal, onTrouble };
    const watching: Promise<KindWatchOutcome> = watchKind(
      { ...request, onProgress: (step) => void progress.push(step) },
      tools,
    );
    await runKubectl(first, ['create', 'configmap', 'one']);
    await expect.poll(() => progress.flatMap(({ changes }) => changes.map(toText))).toHaveLength(1);
    // What the watched resource version does not include, the next API server knows from its start on, and not how it came.
    await runKubectl(first, ['create', 'secret', 'generic', 'two']);
    await first[Symbol.asyncDispose]();
    await trouble;
    await using _second = await startCluster({ dir: dir.path, port, report: () => undefined });
    expect(await watching).toMatchObject({ outcome: 'expired', error: { status: 410 } });
    expect(progress.flatMap(({ changes }) => changes)).toHaveLength(1);
    kept.forget();
    expect(await catchUpKind({ ...scope, ...kept, resourceVersion: undefined }, tools)).toMatchObject({
      outcome: 'listed',
    });
    expect(kept.objects.size).toBeGreaterThan(0);
  });
});
