import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { stallMs } from '#providers/kubernetes/api/answer-limits.ts';
import type { KubernetesClient } from '#providers/kubernetes/api/client.ts';
import { createTestClient, TurnedClock } from '../client/client-setup.ts';
import {
  type Answer,
  answerJson,
  type ScriptedServer,
  startScriptedServer,
} from '../client/scripted-server.ts';
import { configMaps } from '../watch/watch-setup.ts';

const one = { resource: configMaps, namespace: 'web', name: 'one' };
const found = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } };
const hang: Answer = () => undefined;
const silent = /no answer from https:.*: it answers nothing, not even whether it is alive/;

describe('a server that takes requests and answers nothing', () => {
  let server: ScriptedServer;
  const clock = new TurnedClock();
  /** @param probeMs what a test costs that finds the server dead; what finds it alive must not be hurried */
  const connect = (probeMs = 300): KubernetesClient =>
    createTestClient(
      { kubeconfigContents: server.getKubeconfig(), requestTimeoutSeconds: 20 },
      { clock, probeTimes: { probeAfterMs: 100, probeMs } },
    );

  const countProbes = (): number => server.seen.filter(({ path }) => path.startsWith('/livez')).length;

  beforeEach(async () => {
    server = await startScriptedServer();
  });
  afterEach(() => server[Symbol.asyncDispose]());

  test('is told from one that takes its time long before the time-out, by one probe for all requests', async () => {
    await using client = connect();
    server.script(hang);
    const calls = Array.from({ length: 20 }, () => client.get(one));
    const outcomes = await Promise.allSettled(calls);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: { message: expect.stringMatching(silent) },
      });
    }
    // On a busy machine its time is over before it has a connection.
    expect(countProbes()).toBeLessThanOrEqual(1);
  });

  test('gets no further request until it is asked again, and is used again once it answers', async () => {
    await using client = connect(2_000);
    server.script(hang);
    await expect(client.get(one)).rejects.toThrow(silent);
    const { length } = server.seen;
    await expect(client.get(one)).rejects.toThrow(silent);
    expect(server.seen).toHaveLength(length);
    server.script(answerJson(200, found));
    await expect(client.get(one)).rejects.toThrow(silent);
    clock.turn(2_000);
    expect(await client.get(one)).toEqual(found);
  });

  test('holds up one request at a time once it was found dead', async () => {
    await using client = connect();
    server.script(hang);
    await expect(client.get(one)).rejects.toThrow(silent);
    clock.turn(2_000);
    const ended: number[] = [];
    const calls = [0, 1, 2].map((call) => client.get(one).catch(() => ended.push(call)));
    await Promise.all(calls);
    expect(ended.at(-1)).toBe(0);
    expect(countProbes()).toBeLessThanOrEqual(2);
  });

  test('takes its time if it says that it is alive, or if it refuses to say', async () => {
    await using client = connect(15_000);
    for (const status of [200, 403]) {
      server.script((response, request) => {
        if (request.path.startsWith('/livez')) answerJson(status, {})(response, request);
        else setTimeout(() => answerJson(200, found)(response, request), 500);
      });
      expect(await client.get(one)).toEqual(found);
    }
  });

  test('is not taken for one by a process that stood still meanwhile', async () => {
    await using client = connect(1_000);
    server.script((response, request) => {
      if (!request.path.startsWith('/livez')) {
        setTimeout(() => answerJson(200, found)(response, request), 3_000);
        return;
      }
      answerJson(200, {})(response, request);
      // Longer than the probe may take: its time is over before the answer that has come is read.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
    });
    expect(await client.get(one)).toEqual(found);
  });

  test('has the whole time for its answer from the moment that it begins', async () => {
    await using client = connect(2_000);
    server.script((response, request) => {
      if (request.path.startsWith('/livez')) return answerJson(200, {})(response, request);
      const text = JSON.stringify(found);
      // The time of a slow answer was counted from the request, and over soon after this.
      setTimeout(() => {
        response.writeHead(200, { 'content-type': 'application/json' }).write(text.slice(0, 10));
        setTimeout(() => response.end(text.slice(10)), 2_000);
      }, stallMs - 1_000);
    });
    expect(await client.get(one)).toEqual(found);
  });
});
