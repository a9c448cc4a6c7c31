import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startCluster } from '../../../../../infra/local/cluster.ts';
import { drainKind } from '../../../../../shared/providers/kubernetes/watch/drain-kind.ts';
import {
  type FollowOutcome,
  type FollowProgress,
  type FollowRequest,
  followKind,
} from '../../../../../shared/providers/kubernetes/watch/follow-kind.ts';
import type { WatchClient } from '../../../../../shared/providers/kubernetes/watch/watch-client.ts';
import { systemClock, systemRandomness } from '../../../../../shared/runtime/context/system.ts';
import { createNamespace, describeWithCluster, runKubectl } from '../../../../support/cluster.ts';
import { makeTempDir } from '../../../../support/temp-dir.ts';
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

describe('following a kind', () => {
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
  afterEach(async () => {
    await client[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  /** Follows from 10 on, until so much progress was told. */
  function follow(steps: number, request: Partial<FollowRequest> = {}, clock = systemClock) {
    let left = steps;
    const usual: FollowRequest = {
      resource: configMaps,
      position: '10',
      signal: aborter.signal,
      onProgress: ({ changes, position, asOfMs }) => {
        told.push(`${changes.map(toText)} -> ${position}${asOfMs === undefined ? '' : ' as of'}`);
        left -= 1;
        if (left <= 0) aborter.abort();
      },
      onTrouble: (error, failures) => void troubles.push(`${failures}: ${error.message}`),
    };
    return followKind(
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
    expect(await follow(3)).toEqual({ outcome: 'aborted', position: '14' });
    expect(told.join('\n')).toMatch(/^ADDED one@11 -> 1[13](.*\n -> 13)? as of\nDELETED one@14 -> 14$/);
    expect(listWatched()).toEqual(['10', '13']);
    expect(troubles).toEqual([]);
  });

  test('knows at once that nothing was written, and at the end of a watch that nothing came', async () => {
    answer(answerList('10'), answerOpenStream());
    expect(await follow(1)).toMatchObject({ outcome: 'aborted', position: '10' });
    expect(told).toEqual([' -> 10 as of']);

    aborter = new AbortController();
    answer(answerList('12'), answerOneSecond());
    expect(await follow(1)).toMatchObject({ outcome: 'aborted', position: '10' });
    expect(told).toEqual([' -> 10 as of', ' -> 10 as of']);
  });

  test('does not know how current it is when changes came and none of them was the newest', async () => {
    answer(
      answerList('20'),
      answerOneSecond(toLine('ADDED', 'one@11')),
      answerOpenStream(toLine('ADDED', 'two@21')),
    );
    await follow(2);
    expect(told).toEqual(['ADDED one@11 -> 11', 'ADDED two@21 -> 21 as of']);
  });

  test.each([
    { outcome: 'future', read: answerList('9'), watched: answerStream(), position: undefined },
    {
      outcome: 'expired',
      read: answerList('20'),
      watched: answerStream(toErrorLine(410, 'Expired')),
      position: undefined,
    },
    {
      outcome: 'expired',
      read: answerList('20'),
      watched: answerStatus(410, 'Expired'),
      position: undefined,
    },
    { outcome: 'forbidden', read: answerList('20'), watched: answerStatus(403, 'Forbidden'), position: '10' },
    { outcome: 'forbidden', read: answerStatus(403, 'Forbidden'), watched: answerStream(), position: '10' },
    { outcome: 'gone', read: answerList('20'), watched: answerStatus(404, 'NotFound'), position: undefined },
  ])('ends where it is $outcome', async ({ outcome, read, watched, position }) => {
    answer(read, watched);
    expect(await follow(1)).toMatchObject({ outcome, position });
    expect(troubles).toEqual([]);
  });

  test('learns in the midst of a watch that the server was set back', async () => {
    const reads = [answerList('20'), answerList('9')];
    answer((response, request) => reads.shift()?.(response, request), answerOpenStream());
    expect(await follow(1, { roundSeconds: 4.2 })).toMatchObject({ outcome: 'future', position: undefined });
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
    await follow(2, {}, clock);
    expect(clock.slept.filter((ms) => ms < 20_000)).toEqual([250, 500, 1_000, 250, 500]);
    expect(troubles.map((trouble) => trouble[0])).toEqual(['1', '2', '3', '1', '2']);
    expect(troubles[3]).toContain('the watch of ConfigMap broke off');
    expect(listWatched()).toEqual(['10', '10', '10', '10', '11', '11']);
  });

  test('does not press a server that ends watches at once', async () => {
    answer(answerList('20'), answerStream(), answerStream(), answerOpenStream(toLine('ADDED', 'one@11')));
    await follow(1);
    expect(troubles).toEqual(['1: the server ends watches at once', '2: the server ends watches at once']);
  });

  test('asks again whether the server is behind after a failure', async () => {
    const reads = [answerList('20'), answerList('9')];
    answer((response, request) => reads.shift()?.(response, request), answerStatus(405, 'MethodNotAllowed'));
    expect(await follow(1)).toMatchObject({ outcome: 'future' });
  });

  test('throws what working on its progress throws', async () => {
    answer(answerList('20'), answerOpenStream(toLine('ADDED', 'one@11')));
    const onProgress = () => Promise.reject(new Error('the store is full'));
    await expect(follow(1, { onProgress })).rejects.toThrow('the store is full');
  });
});

describeWithCluster('following a kind of a real API server', (cluster) => {
  test('sees every state in a storm, each at once, through connections that are cut', {
    timeout: 60_000,
  }, async () => {
    await using namespace = await createNamespace('follow');
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
    const { position = '' } = await drainKind(
      { ...scope, ...kept, position: undefined },
      { client, clock: systemClock },
    );
    const aborter = new AbortController();
    let troubles = 0;
    const following = followKind(
      {
        ...scope,
        position,
        signal: aborter.signal,
        onProgress: ({ changes }) => kept.onChanges(changes),
        onTrouble: () => {
          troubles += 1;
        },
      },
      { client, clock: systemClock, randomness: { ...systemRandomness, fraction: () => 0.01 } },
    );
    const cutting = setInterval(() => forwarder.cut(), 150);
    await stormConfigMaps(namespace.name, 480);
    clearInterval(cutting);
    await expect.poll(() => kept.objects).toEqual(await readConfigMaps(namespace.name));
    await stormConfigMaps(namespace.name, 8);
    const wanted = await readConfigMaps(namespace.name);
    // A few milliseconds; what comes only with the next round comes after half a minute.
    await expect.poll(() => kept.objects, { timeout: 10_000 }).toEqual(wanted);
    expect(kept.mistakes).toEqual([]);
    expect(troubles).toBeGreaterThan(2);
    aborter.abort();
    expect(await following).toMatchObject({ outcome: 'aborted' });
  });

  test('knows of a kind that does not change how current it is', { timeout: 60_000 }, async () => {
    await using namespace = await createNamespace('follow');
    await using client = createTestWatchClient({ kubeconfigFile: cluster.kubeconfig });
    const scope = { resource: configMaps, namespace: namespace.name };
    const aborter = new AbortController();
    const asOf: number[] = [];
    const position = await client.readResourceVersion(scope);
    const following = followKind(
      {
        ...scope,
        position,
        roundSeconds: 5,
        signal: aborter.signal,
        onProgress: ({ asOfMs }) => void (asOfMs !== undefined && asOf.push(asOfMs)),
      },
      { client, clock: systemClock, randomness: systemRandomness },
    );
    await stormConfigMaps('default', 8);
    const startedAtMs = Date.now();
    await expect.poll(() => asOf.at(-1)).toBeGreaterThan(startedAtMs);
    aborter.abort();
    await following;
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
    const { position = '' } = await drainKind({ ...scope, ...kept, position: undefined }, tools);
    const { promise: trouble, resolve: onTrouble } = Promise.withResolvers<unknown>();
    const progress: FollowProgress[] = [];
    const request = { ...scope, position, signal: new AbortController().signal, onTrouble };
    const following: Promise<FollowOutcome> = followKind(
      { ...request, onProgress: (step) => void progress.push(step) },
      tools,
    );
    await runKubectl(first, ['create', 'configmap', 'one']);
    await expect.poll(() => progress.flatMap(({ changes }) => changes.map(toText))).toHaveLength(1);
    // What the followed position does not include, the next API server knows from its start on, and not how it came.
    await runKubectl(first, ['create', 'secret', 'generic', 'two']);
    await first[Symbol.asyncDispose]();
    await trouble;
    await using _second = await startCluster({ dir: dir.path, port, report: () => undefined });
    expect(await following).toMatchObject({
      outcome: 'expired',
      position: undefined,
      error: { status: 410 },
    });
    expect(progress.flatMap(({ changes }) => changes)).toHaveLength(1);
    kept.forget();
    expect(await drainKind({ ...scope, ...kept, position: undefined }, tools)).toMatchObject({
      outcome: 'listed',
    });
    expect(kept.objects.size).toBeGreaterThan(0);
  });
});
