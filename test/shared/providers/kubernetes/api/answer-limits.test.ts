import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  answerJsonBounds,
  discoveryResourcesMax,
  discoveryVersionsMax,
  errorBytesMax,
  gatheredListBytesMax,
  objectBytesMax,
  pageBytesMax,
  pageItemsMax,
} from '#providers/kubernetes/api/answer-limits.ts';
import { answerMemory } from '#providers/kubernetes/transport/answer-memory.ts';
import { createTestClient, TurnedClock } from '../client/client-setup.ts';
import {
  type Answer,
  answerJson,
  type ScriptedServer,
  startScriptedServer,
} from '../client/scripted-server.ts';
import { configMaps, createTestWatchClient, toLine } from '../watch/watch-setup.ts';

let server: ScriptedServer;

beforeEach(async () => {
  server = await startScriptedServer();
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  expect(answerMemory.taken).toBe(0);
});

const connect = () => createTestClient({ kubeconfigContents: server.getKubeconfig() });
const watch = () => createTestWatchClient({ kubeconfigContents: server.getKubeconfig() });
const one = { resource: configMaps, namespace: 'shop', name: 'one' };

/** A server of so many objects, each of so many bytes, that knows pages. */
function answerPages(count: number, bytes: number): Answer {
  const filling = 'x'.repeat(bytes);
  return (response, { path }) => {
    const query = new URL(path, server.url).searchParams;
    const from = Number(query.get('continue') ?? 0);
    const to = Math.min(from + Number(query.get('limit')), count);
    const items = Array.from({ length: to - from }, (_, index) => ({
      metadata: { name: `object-${from + index}` },
      data: { filling },
    }));
    const metadata = { resourceVersion: '5', continue: to < count ? String(to) : undefined };
    const body = gzipSync(JSON.stringify({ kind: 'List', metadata, items }), { level: 1 });
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(body);
  };
}

/** Of the lists that were asked for: on a busy machine a server that is slow is also asked whether it is alive. */
const limits = () =>
  server.seen.flatMap(({ path }) => new URL(path, server.url).searchParams.getAll('limit').map(Number));

describe('a list', () => {
  test('of objects of 20 KB comes in pages of 500', async () => {
    server.script(answerPages(2_000, 15_000));
    await using watches = watch();
    let count = 0;
    for await (const { items } of watches.listFrom({ resource: configMaps })) count += items.length;
    expect(count).toBe(2_000);
    expect(limits()).toEqual([500, 500, 500, 500]);
  });

  test('of large objects comes in smaller pages, each within the limit', async () => {
    server.script(answerPages(600, 200_000));
    await using watches = watch();
    const names = new Set<unknown>();
    for await (const { items, bytes } of watches.listFrom({ resource: configMaps })) {
      for (const { metadata } of items) names.add((metadata as { name: string }).name);
      expect(bytes).toBeLessThanOrEqual(pageBytesMax);
    }
    expect(names.size).toBe(600);
    // Three are too large, or smaller than need be; from then on a page fills half of what it may.
    expect(limits().slice(0, 4)).toEqual([500, 100, 20, 41]);
    expect(
      limits()
        .slice(4)
        .every((limit) => limit === 41),
    ).toBe(true);
  });

  test('whose objects are too large one by one is given up', async () => {
    server.script(answerPages(3, pageBytesMax));
    await using watches = watch();
    await expect(watches.listFrom({ resource: configMaps }).next()).rejects.toThrow(
      `account "prod" (context "dev"): the answer of ${server.url} has more than ${pageBytesMax} bytes`,
    );
    expect(limits()).toEqual([500, 100, 20, 4, 1]);
  });

  test('of more values than an answer may have comes in smaller pages', async () => {
    const item = { metadata: { name: 'a' }, values: Array.from({ length: 2_000 }, () => ({})) };
    server.script((response, { path }) => {
      const limit = Number(new URL(path, server.url).searchParams.get('limit'));
      response.end(JSON.stringify({ items: Array.from({ length: limit }, () => item) }));
    });
    await using watches = watch();
    for await (const { items } of watches.listFrom({ resource: configMaps })) expect(items).toHaveLength(100);
    expect(limits()).toEqual([500, 100]);
  });

  test('that is no list of pages is taken whole up to a number of objects', async () => {
    const answerItems = (length: number): Answer =>
      answerJson(200, { items: Array.from({ length }, () => ({})) });
    await using client = connect();
    server.script(answerItems(pageItemsMax));
    expect(await client.list({ resource: configMaps })).toHaveLength(pageItemsMax);
    server.script(answerItems(pageItemsMax + 1));
    await expect(client.list({ resource: configMaps })).rejects.toThrow(
      `account "prod": the list of ConfigMap has more than ${pageItemsMax} objects in a page`,
    );
  });

  test('is gathered up to a size', async () => {
    server.script(answerPages(3_000, 15_000));
    await using client = connect();
    await expect(client.list({ resource: configMaps })).rejects.toThrow(
      `account "prod": the list of ConfigMap has more than ${gatheredListBytesMax} bytes`,
    );
  });
});

test('an object may have its size, and no more', async () => {
  await using client = connect();
  const empty = JSON.stringify({ text: '' }).length;
  server.script(answerJson(200, { text: 'x'.repeat(objectBytesMax - empty) }));
  expect(await client.get(one)).toBeDefined();
  server.script(answerJson(200, { text: 'x'.repeat(objectBytesMax - empty + 1) }));
  await expect(client.get(one)).rejects.toThrow(`has more than ${objectBytesMax} bytes`);
});

test('a write whose answer is too much is not repeated', async () => {
  await using client = connect();
  server.script(answerJson(200, { text: 'x'.repeat(objectBytesMax) }));
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one', namespace: 'shop' } };
  await expect(client.replace(configMaps, manifest)).rejects.toMatchObject({
    name: 'KubernetesConnectionError',
    answerLost: false,
  });
  expect(server.seen).toHaveLength(1);
});

test('of a refusal so much is read as is worth it', async () => {
  await using client = createTestClient(
    { kubeconfigContents: server.getKubeconfig() },
    { clock: new TurnedClock() },
  );
  const status = (length: number) => ({
    kind: 'Status',
    reason: 'Invalid',
    message: `secret ${'x'.repeat(length)}`,
  });
  server.script(answerJson(422, status(errorBytesMax - 1_000)));
  await expect(client.get(one)).rejects.toMatchObject({ reason: 'Invalid', status: 422 });
  server.script(answerJson(422, status(errorBytesMax)));
  await expect(client.get(one)).rejects.toMatchObject({
    status: 422,
    message: `HTTP 422: its explanation has more than ${errorBytesMax} bytes`,
  });
});

test('headers have a size', async () => {
  await using client = connect();
  server.script((response) => response.writeHead(200, { 'x-large': 'x'.repeat(20_000) }).end('{}'));
  await expect(client.get(one)).rejects.toThrow(/account "prod".*[Hh]eader/);
});

describe('discovery', () => {
  test('of very many resources is refused, without a stack that overflows', async () => {
    const resources = Array.from({ length: discoveryResourcesMax + 1 }, () => ({
      resource: 'a',
      responseKind: { kind: 'A' },
    }));
    server.script(
      answerJson(200, {
        kind: 'APIGroupDiscoveryList',
        items: [{ metadata: { name: 'x' }, versions: [{ version: 'v1', resources }] }],
      }),
    );
    await using client = connect();
    await expect(client.getResourceOfKind('A.x')).rejects.toThrow(
      `account "prod": its discovery has more than ${discoveryResourcesMax} resources`,
    );
  });

  test('of very many group versions asks for none of them', async () => {
    const groups = Array.from({ length: discoveryVersionsMax + 1 }, (_, index) => ({
      versions: [{ groupVersion: `g${index}/v1` }],
    }));
    server.script(answerJson(200, { kind: 'APIGroupList', groups }));
    await using client = connect();
    await expect(client.getResourceOfKind('A.x')).rejects.toThrow('group versions');
    expect(server.seen).toHaveLength(1);
  });
});

describe('a watch', () => {
  const request = { resource: configMaps, resourceVersion: '1', timeoutSeconds: 1 };

  test('takes events that are as large as objects, waits for room and gives it back', async () => {
    server.script((response) => response.end(toLine('ADDED', 'one@2', { text: 'x'.repeat(2_000_000) })));
    await using watches = watch();
    const names: unknown[] = [];
    const end = await watches.watch({
      ...request,
      onChanges: (changes) => {
        names.push(...changes.map(({ object }) => (object.metadata as { name: string }).name));
      },
    });
    expect(end).toMatchObject({ ended: 'server-end', changes: 1 });
    expect(names).toEqual(['one']);
  });

  test('whose event is nested too deep, or has a version that is no number of etcd, does no harm', async () => {
    const depth = answerJsonBounds.depthMax;
    const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    server.script((response) => response.end(`{"type":"ADDED","object":{"a":${deep}}}\n`));
    await using watches = watch();
    const end = await watches.watch({ ...request, onChanges: () => undefined });
    expect(end).toMatchObject({
      ended: 'broken',
      error: { message: expect.stringContaining('nested deeper') },
    });
    const digits = '9'.repeat(1_000_000);
    server.script((response) => response.end(toLine('ADDED', `one@${digits}`)));
    const other = await watches.watch({ ...request, until: `${digits}0`, onChanges: () => undefined });
    expect(other.ended).toBe('server-end');
  });
});
