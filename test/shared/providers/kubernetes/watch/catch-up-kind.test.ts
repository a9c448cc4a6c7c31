import { beforeEach, describe, expect, test } from 'vitest';
import type { ReadOutcome } from '#caching/engine/scope-source.ts';
import { systemClock } from '#platform/services/system.ts';
import { type CatchUpRequest, catchUpKind } from '#providers/kubernetes/watch/catch-up-kind.ts';
import type { WatchClient } from '#providers/kubernetes/watch/watch-client.ts';
import { disposeAfterEach } from '#test/support/run/disposal.ts';
import {
  type Answer,
  answerJson,
  answerStatus,
  type ScriptedServer,
  startScriptedServer,
} from '../client/scripted-server.ts';
import {
  answerList,
  answerOpenStream,
  answerStream,
  configMaps,
  createTestWatchClient,
  toErrorLine,
  toLine,
  toText,
} from './watch-setup.ts';

describe('a catch-up', () => {
  let server: ScriptedServer;
  let client: WatchClient;
  const told: string[] = [];

  beforeEach(async () => {
    told.length = 0;
    server = await startScriptedServer();
    client = createTestWatchClient({ kubeconfigContents: server.getKubeconfig() });
  });
  disposeAfterEach(() => [client, server]);

  function catchUp(request: Partial<CatchUpRequest> = {}): Promise<ReadOutcome> {
    const usual: CatchUpRequest = {
      resource: configMaps,
      resourceVersion: '10',
      onPage: ({ items, resourceVersion }) => void told.push(`${items.length} listed at ${resourceVersion}`),
      onChanges: (changes) => void told.push(...changes.map(toText)),
    };
    return catchUpKind({ ...usual, ...request }, { client, clock: systemClock });
  }

  /** Answers at the end of the time for which it was asked. */
  function answerInTime(...lines: string[]): Answer {
    return (response, request) => {
      const seconds = Number(new URL(request.path, 'http://x').searchParams.get('timeoutSeconds'));
      answerOpenStream(...lines)(response, request);
      setTimeout(() => response.end(), seconds * 1000);
    };
  }

  const unknown = { resourceVersion: undefined };

  test('without a resource version lists, and is as of before that', async () => {
    const before = Date.now();
    server.script(answerJson(200, { metadata: { resourceVersion: '7' }, items: [{}, {}] }));
    const outcome = await catchUp(unknown);
    expect(outcome).toEqual({ outcome: 'listed', position: '7', asOfMs: expect.any(Number) });
    expect(outcome.asOfMs).toBeGreaterThanOrEqual(before);
    expect(told).toEqual(['2 listed at 7']);
  });

  test('lists again and again what has no resource version', async () => {
    server.script(answerJson(200, { items: [{}] }));
    expect(await catchUp(unknown)).toMatchObject({ position: undefined, outcome: 'listed' });
  });

  test('asks for nothing more where nothing at all was written', async () => {
    server.script(answerList('10'));
    const caughtUp = { outcome: 'caughtUp', position: '10', asOfMs: expect.any(Number) };
    expect(await catchUp()).toMatchObject(caughtUp);
    expect(server.seen).toHaveLength(1);
  });

  test('of a quiet kind is as of its reading, and leaves the resource version where the server left it', async () => {
    let watchedAtMs = Number.NaN;
    server.script(answerList('20'), (response, request) => {
      watchedAtMs = Date.now();
      answerInTime()(response, request);
    });
    const outcome = await catchUp();
    expect(outcome).toEqual({ outcome: 'caughtUp', position: '10', asOfMs: expect.any(Number) });
    expect(outcome.asOfMs).toBeLessThanOrEqual(watchedAtMs);
  });

  test('that ended too early, or in the midst of changes, does not know how current it is', async () => {
    server.script(answerList('20'), answerStream());
    expect(await catchUp()).toMatchObject({ outcome: 'caughtUp', position: '10', asOfMs: undefined });
    server.script(answerList('20'), answerInTime(toLine('ADDED', 'one@15')));
    expect(await catchUp()).toMatchObject({ outcome: 'caughtUp', position: '15', asOfMs: undefined });
  });

  test('is current once it has told a change, or come by a bookmark, to what was the newest', async () => {
    server.script(answerList('20'), answerInTime(toLine('ADDED', 'one@15'), toLine('DELETED', 'one@21')));
    expect(await catchUp()).toMatchObject({ position: '21', asOfMs: expect.any(Number) });
    server.script(answerList('20'), answerOpenStream(toLine('BOOKMARK', '@20')));
    const outcome = await catchUp({ awaitsBookmark: true });
    expect(outcome).toMatchObject({ outcome: 'caughtUp', position: '20', asOfMs: expect.any(Number) });
    expect(told).toEqual(['ADDED one@15', 'DELETED one@21']);
  });

  test('tells that the server is behind, and asks it for nothing more', async () => {
    server.script(answerList('9'));
    expect(await catchUp()).toEqual({ outcome: 'future', position: undefined, asOfMs: undefined });
    expect(server.seen).toHaveLength(1);
  });

  test.each([
    ['a refusal', answerStatus(410, 'Expired')],
    ['an error event', answerStream(toErrorLine(410, 'Expired'))],
  ])('tells that its resourceVersion has expired, by %s', async (_how, answer) => {
    server.script(answerList('20'), answer);
    expect(await catchUp()).toMatchObject({ position: undefined, outcome: 'expired', asOfMs: undefined });
  });

  test.each([
    { outcome: 'forbidden', status: 403, reason: 'Forbidden', position: '10' },
    { outcome: 'gone', status: 404, reason: 'NotFound', position: undefined },
    { outcome: 'broken', status: 422, reason: 'Invalid', position: '10' },
  ])('is $outcome where reading or watching is answered by $status', async (row) => {
    const { outcome, status, reason, position } = row;
    const error = { message: expect.stringContaining(`${reason} says the server`) };
    server.script(answerStatus(status, reason));
    expect(await catchUp()).toMatchObject({ outcome, position, asOfMs: undefined, error });
    expect(await catchUp(unknown)).toMatchObject({ position: undefined, outcome, error });
    server.script(answerList('20'), answerStatus(status, reason));
    expect(await catchUp()).toMatchObject({ outcome, position, asOfMs: undefined, error });
  });

  test('whose stream breaks keeps what was told, and does not know how current it is', async () => {
    server.script(answerList('20'), (response) => {
      response.writeHead(200).write(toLine('ADDED', 'one@15'), () => setImmediate(() => response.destroy()));
    });
    expect(await catchUp()).toMatchObject({ outcome: 'broken', position: '15', asOfMs: undefined });
  });

  test('that is aborted says how far it came', async () => {
    const aborter = new AbortController();
    const { signal } = aborter;
    server.script(answerList('20'), answerOpenStream(toLine('ADDED', 'one@15')));
    const outcome = await catchUp({ signal, onChanges: () => aborter.abort() });
    expect(outcome).toMatchObject({ outcome: 'aborted', position: '15', asOfMs: undefined });
    expect(await catchUp({ signal })).toMatchObject({ outcome: 'aborted', position: '10' });
    expect(await catchUp({ signal, ...unknown })).toMatchObject({ position: undefined, outcome: 'aborted' });
  });

  test('throws what working on pages and changes throws', async () => {
    const fail = () => Promise.reject(new Error('the store is full'));
    server.script(answerList('20'), answerInTime(toLine('ADDED', 'one@15')));
    await expect(catchUp({ onChanges: fail })).rejects.toThrow('the store is full');
    server.script(answerList('20'));
    await expect(catchUp({ resourceVersion: undefined, onPage: fail })).rejects.toThrow('the store is full');
  });
});
