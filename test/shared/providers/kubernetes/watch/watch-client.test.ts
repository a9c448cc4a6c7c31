import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import type { WatchChange, WatchEnd, WatchRequest } from '#providers/kubernetes/watch/watch.ts';
import type { WatchClient } from '#providers/kubernetes/watch/watch-client.ts';
import { disposeAfterEach } from '#test/support/run/disposal.ts';
import { makeTempDir, writeProgram } from '#test/support/run/temp-dir.ts';
import {
  answerJson,
  answerStatus,
  type ScriptedServer,
  startScriptedServer,
} from '../client/scripted-server.ts';
import {
  answerOpenStream,
  answerStream,
  configMaps,
  createTestWatchClient,
  toErrorLine,
  toLine,
  toText,
} from './watch-setup.ts';

let server: ScriptedServer;
let client: WatchClient;

beforeEach(async () => {
  server = await startScriptedServer();
  client = createTestWatchClient({ kubeconfigContents: server.getKubeconfig() });
});
disposeAfterEach(() => [client, server]);

const quiet = { resource: configMaps, resourceVersion: '1', timeoutSeconds: 1, onChanges: () => undefined };

/** Watches from resource version 1, and notes what is told. */
async function watch(
  request: Partial<WatchRequest> = {},
  by = client,
): Promise<{ end: WatchEnd; told: string[] }> {
  const told: string[] = [];
  const end = await by.watch({
    ...quiet,
    onChanges: (changes, resourceVersion) => {
      told.push(...changes.map(toText), `-> ${resourceVersion}`);
    },
    ...request,
  });
  return { end, told };
}

/** Bears a second of silence of a watch of one second. */
function createImpatientClient(endGraceMs = 0): WatchClient {
  return createTestWatchClient({ kubeconfigContents: server.getKubeconfig() }, { endGraceMs });
}

describe('a watch', () => {
  test('asks for bookmarks, uncompressed, in one namespace or in all', async () => {
    server.script(answerStream());
    await watch({ namespace: 'web', resourceVersion: '42' });
    await watch();
    expect(server.seen.map(({ path }) => path)).toEqual([
      '/api/v1/namespaces/web/configmaps?watch=1&allowWatchBookmarks=true&resourceVersion=42&timeoutSeconds=1',
      '/api/v1/configmaps?watch=1&allowWatchBookmarks=true&resourceVersion=1&timeoutSeconds=1',
    ]);
    expect(server.seen[0]?.headers['accept-encoding']).toBeUndefined();
    expect(server.seen[1]?.clientPort).toBe(server.seen[0]?.clientPort);
  });

  test('tells changes and bookmarks in their order until the server ends it', async () => {
    const lines = toLine('ADDED', 'one@5') + toLine('MODIFIED', 'one@6') + toLine('DELETED', 'one@8');
    server.script(answerStream(lines + toLine('BOOKMARK', '@11')));
    const { end, told } = await watch();
    expect(told).toEqual(['ADDED one@5', 'MODIFIED one@6', 'DELETED one@8', '-> 11']);
    expect(end).toMatchObject({ ended: 'server-end', resourceVersion: '11', changes: 3 });
  });

  test('puts events together that come byte by byte', async () => {
    const bytes = Buffer.from(toLine('ADDED', 'eins@5', { text: 'grün 🚌 ünd' }) + toLine('ADDED', 'zwei@6'));
    const objects: unknown[] = [];
    server.script(async (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      for (const byte of bytes) {
        response.write(Buffer.from([byte]));
        if (byte === 0x22) await sleep(0);
      }
      response.end();
    });
    const { end } = await watch({
      onChanges: (changes) => {
        for (const { object } of changes) objects.push(object['data']);
      },
    });
    expect(objects).toEqual([{ text: 'grün 🚌 ünd' }, {}]);
    expect(end).toMatchObject({ ended: 'server-end', changes: 2, resourceVersion: '6' });
  });

  test('takes huge events, and breaks off at one that never ends', async () => {
    server.script(answerStream(toLine('ADDED', 'big@5', { text: 'x'.repeat(6_000_000) })));
    expect((await watch()).told).toEqual(['ADDED big@5', '-> 5']);
    server.script((response) => {
      response.writeHead(200);
      const more = (): boolean => response.write(Buffer.alloc(1_000_000, 'x'));
      response.on('drain', more);
      more();
    });
    const { end } = await watch();
    expect(end).toMatchObject({ ended: 'broken', resourceVersion: '1' });
    expect(end.error?.message).toContain('a line is longer than');
  });

  test.each([
    ['a refusal', answerStatus(410, 'Expired'), '1'],
    ['an error event', answerOpenStream(toLine('ADDED', 'one@5') + toErrorLine(410, 'Expired')), '5'],
    ['an error event of older servers', answerOpenStream(toErrorLine(410, 'Gone')), '1'],
  ])('that is too old is told so by %s', async (_how, answer, resourceVersion) => {
    server.script(answer);
    const { end } = await watch();
    expect(end).toMatchObject({ ended: 'expired', resourceVersion, error: { status: 410 } });
  });

  test.each([
    ['another error', answerOpenStream(toErrorLine(500, 'InternalError')), 'InternalError says the watch'],
    ['an error event without a code', answerStream('{"type":"ERROR","object":{"message":"lost"}}\n'), 'lost'],
    ['what is no JSON', answerStream('{"type":"ADD\n'), 'an event that is no JSON'],
    ['what is no event', answerStream('[]\n'), 'an event without an object'],
    ['no version', answerStream('{"type":"ADDED","object":{}}\n'), 'an event without a version'],
    ['an end in the midst of an event', answerStream('{"type":"ADDED",'), 'ended in the midst of an event'],
  ])('breaks at %s', async (_what, answer, message) => {
    server.script(answer);
    const { end } = await watch();
    expect(end).toMatchObject({ ended: 'broken', resourceVersion: '1' });
    expect(end.error?.message).toContain(message);
  });

  test('ignores events of types that there may be one day', async () => {
    server.script(answerStream(toLine('MOVED', 'one@5') + toLine('ADDED', 'two@6')));
    expect((await watch()).told).toEqual(['ADDED two@6', '-> 6']);
  });

  test.each([
    ['is cut', 'destroy'],
    ['is half-closed', 'end'],
  ] as const)('breaks when its connection %s, and keeps what had come', async (_how, method) => {
    server.script((response) => {
      response.writeHead(200);
      response.write(`${toLine('ADDED', 'one@5')}{"type":`, () => {
        setImmediate(() => response.socket?.[method]());
      });
    });
    const { end, told } = await watch();
    expect(told).toEqual(['ADDED one@5', '-> 5']);
    expect(end).toMatchObject({ ended: 'broken', resourceVersion: '5', changes: 1 });
    expect(end.error?.message).toContain('the watch of ConfigMap broke off');
  });

  test('breaks when nothing comes for longer than it was to last', async () => {
    await using impatient = createImpatientClient();
    server.script(answerOpenStream(toLine('ADDED', 'one@5')));
    const { end } = await watch({}, impatient);
    expect(end).toMatchObject({ ended: 'broken', resourceVersion: '5' });
    expect(end.error?.message).toContain('nothing more within 1 s');
  });

  test('bears an answer that a proxy holds back until the end', async () => {
    await using impatient = createTestWatchClient({
      kubeconfigContents: server.getKubeconfig(),
      requestTimeoutSeconds: 0.1,
    });
    server.script((response) => void setTimeout(() => response.end(), 500));
    expect(await impatient.watch(quiet)).toMatchObject({ ended: 'server-end' });
  });

  test('stops once it has come to what was asked for', async () => {
    server.script(answerOpenStream(toLine('ADDED', 'one@5'), toLine('BOOKMARK', '@9')));
    expect((await watch({ until: '9' })).end).toMatchObject({ ended: 'reached', resourceVersion: '9' });
  });

  test('stops when it is aborted: waiting for an answer, in the stream, or before', async () => {
    server.script(() => undefined);
    expect((await watch({ signal: AbortSignal.timeout(50) })).end).toMatchObject({ ended: 'aborted' });
    server.script(answerOpenStream(toLine('ADDED', 'one@5')));
    const aborter = new AbortController();
    const { end } = await watch({ signal: aborter.signal, onChanges: () => aborter.abort() });
    expect(end).toMatchObject({ ended: 'aborted', resourceVersion: '5', changes: 1 });
    expect((await watch({ signal: aborter.signal })).end).toMatchObject({ ended: 'aborted', changes: 0 });
  });

  test('ends with its client', async () => {
    server.script(answerOpenStream(toLine('ADDED', 'one@5')));
    const { end } = await watch({ onChanges: () => void client[Symbol.asyncDispose]() });
    expect(end).toMatchObject({ ended: 'aborted', resourceVersion: '5' });
  });

  test('lets the server wait while changes are worked on, and loses none of them', async () => {
    const count = 3_000;
    let written = 0;
    server.script(async (response) => {
      response.writeHead(200);
      for (; written < count; written += 1) {
        const more = response.write(
          toLine('ADDED', `c${written}@${written + 2}`, { text: 'x'.repeat(10_000) }),
        );
        if (!more) await new Promise((resolve) => response.once('drain', resolve));
      }
      response.end();
    });
    // The server may stop for a second once we read on.
    await using impatient = createImpatientClient(1_000);
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const names: string[] = [];
    const onChanges = async (changes: readonly WatchChange[]): Promise<void> => {
      await gate;
      names.push(...changes.map(toText));
    };
    const watching = watch({ onChanges }, impatient);
    // Longer than a silent stream is borne: while we work, the server's silence is none.
    await sleep(2_300);
    expect(written).toBeLessThan(count);
    open();
    expect((await watching).end).toMatchObject({ ended: 'server-end', changes: count });
    expect(names).toEqual(Array.from({ length: count }, (_, index) => `ADDED c${index}@${index + 2}`));
  });

  test('works on what had come when its connection breaks meanwhile', async () => {
    server.script((response) => {
      response.writeHead(200);
      response.write(toLine('ADDED', 'one@5'), () => {
        response.write(toLine('ADDED', 'two@6'), () => void setTimeout(() => response.socket?.end(), 50));
      });
    });
    const told: string[] = [];
    const { end } = await watch({
      onChanges: async (changes) => {
        await sleep(150);
        told.push(...changes.map(toText));
      },
    });
    expect(told).toEqual(['ADDED one@5', 'ADDED two@6']);
    expect(end).toMatchObject({ ended: 'broken', resourceVersion: '6', changes: 2 });
  });

  test('throws what working on its changes throws', async () => {
    server.script(answerOpenStream(toLine('ADDED', 'one@5')));
    const fail = () => {
      throw new Error('the store is full');
    };
    await expect(watch({ onChanges: fail })).rejects.toThrow('the store is full');
    await expect(watch({ onChanges: async () => fail() })).rejects.toThrow('the store is full');
  });

  test('tells refusals by their message, and what is not served by its name', async () => {
    server.script(answerStatus(403, 'Forbidden'));
    expect((await watch()).end).toMatchObject({
      ended: 'broken',
      error: { message: 'Forbidden says the server' },
    });
    server.script(answerStatus(404, 'NotFound'));
    const { end } = await watch();
    expect(end.error?.message).toContain('does not serve ConfigMap in v1 (GET /api/v1/configmaps)');
  });

  test('is asked for again where no answer came, or one that says not now', async () => {
    server.script(
      (response) => response.destroy(),
      answerStatus(503, 'Busy'),
      answerStream(toLine('ADDED', 'one@5')),
    );
    expect((await watch()).end).toMatchObject({ ended: 'server-end', resourceVersion: '5' });
  });

  test('renews a refused credential once', async () => {
    await using dir = await makeTempDir();
    const plugin = await writeProgram(
      join(dir.path, 'plugin'),
      `echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"'$$'"}}'`,
    );
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: plugin, interactiveMode: 'Never' };
    await using own = createTestWatchClient({ kubeconfigContents: server.getKubeconfig({ user: { exec } }) });
    server.script(answerStatus(401, 'Unauthorized'), answerStream(toLine('ADDED', 'one@5')));
    expect(await own.watch(quiet)).toMatchObject({ ended: 'server-end', resourceVersion: '5' });
    const tokens = server.seen.map(({ headers }) => headers.authorization);
    expect(new Set(tokens).size).toBe(2);

    server.script(answerStatus(401, 'Unauthorized'));
    expect(await own.watch(quiet)).toMatchObject({ ended: 'broken', error: { status: 401 } });
  });
});

describe('a watch client', () => {
  test('opens no more watches at once than it may, and reads beside them', async () => {
    await using small = createTestWatchClient(
      { kubeconfigContents: server.getKubeconfig() },
      { maximumWatches: 2 },
    );
    server.script((response, request) => {
      const answer = request.path.includes('watch=1')
        ? answerOpenStream()
        : answerJson(200, { metadata: { resourceVersion: '7' } });
      answer(response, request);
    });
    const aborter = new AbortController();
    const { signal } = aborter;
    const request = { ...quiet, timeoutSeconds: 60, signal };
    const watches = [small.watch(request), small.watch(request), small.watch(request)];
    for (let read = 0; read < 20; read += 1) {
      expect(await small.readResourceVersion({ resource: configMaps })).toBe('7');
    }
    expect(server.seen.filter(({ path }) => path.includes('watch=1'))).toHaveLength(2);
    aborter.abort();
    expect((await Promise.all(watches)).map(({ ended }) => ended)).toEqual(['aborted', 'aborted', 'aborted']);
    server.script(answerStream());
    for (let next = 0; next < 3; next += 1) {
      expect(await small.watch({ ...request, signal: undefined })).toMatchObject({ ended: 'server-end' });
    }
  });

  test('reads the newest resource version with the metadata of one object', async () => {
    server.script(answerJson(200, { metadata: { resourceVersion: '77' }, items: [{}] }));
    expect(await client.readResourceVersion({ resource: configMaps, namespace: 'web' })).toBe('77');
    expect(server.seen[0]).toMatchObject({
      path: '/api/v1/namespaces/web/configmaps?limit=1',
      headers: { accept: expect.stringContaining('PartialObjectMetadataList') },
    });
  });
});

describe('a list', () => {
  const toPage = (name: string, resourceVersion: string, token = '') =>
    answerJson(200, { metadata: { continue: token, resourceVersion }, items: [{ metadata: { name } }] });

  async function list(): Promise<string[]> {
    const pages: string[] = [];
    for await (const { items, resourceVersion } of client.listFrom({ resource: configMaps })) {
      pages.push(`${JSON.stringify(items)} at ${resourceVersion}`);
    }
    return pages;
  }

  test('asks for the next page only when the last one has been used, all compressed', async () => {
    server.script(toPage('one', '5', 'next'), toPage('two', '5'));
    const pages = client.listFrom({ resource: configMaps });
    const item = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } };
    expect((await pages.next()).value).toMatchObject({ items: [item], resourceVersion: '5' });
    expect(server.seen).toHaveLength(1);
    expect((await pages.next()).value).toMatchObject({ resourceVersion: '5' });
    expect(await pages.next()).toEqual({ done: true, value: undefined });
    expect(server.seen.map(({ path }) => path)).toEqual([
      '/api/v1/configmaps?limit=500',
      '/api/v1/configmaps?limit=500&continue=next',
    ]);
    expect(server.seen[0]?.headers['accept-encoding']).toBe('gzip');
  });

  test('keeps the version of its first page where later pages show a later state', async () => {
    server.script(toPage('one', '5', 'next'), toPage('two', '9'));
    expect((await list()).map((page) => page.slice(-1))).toEqual(['5', '5']);
  });

  test('whose snapshot expires is refused: who reads it begins anew', async () => {
    server.script(toPage('old', '5', 'next'), answerStatus(410, 'Expired'), toPage('one', '8'));
    await expect(list()).rejects.toMatchObject({ status: 410 });
    expect(server.seen).toHaveLength(2);
  });
});
