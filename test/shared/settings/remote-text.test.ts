import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RemoteText } from '#settings/remote-text.ts';
import {
  createTestClient,
  silentLog,
  TurnedClock,
} from '#test/shared/providers/kubernetes/client/client-setup.ts';
import type { ScriptedServer } from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import {
  answerStatus,
  startScriptedServer,
} from '#test/shared/providers/kubernetes/client/scripted-server.ts';

const lifetimeMs = 300_000;

let server: ScriptedServer;
let clock: TurnedClock;
let warnings: unknown[];
let readings: number;

beforeEach(async () => {
  server = await startScriptedServer();
  clock = new TurnedClock();
  warnings = [];
  readings = 0;
});
afterEach(() => server[Symbol.asyncDispose]());

/** A kubeconfig from afar that reads as the function says. */
function makeRemote(read: () => Promise<string> | string, lifetime: number | undefined = lifetimeMs) {
  const counted = async () => {
    readings += 1;
    const asOfMs = clock.now();
    const text = await read();
    return { text, asOfMs, readAgainAtMs: asOfMs + lifetime };
  };
  const log = { ...silentLog, warn: (...line: unknown[]) => warnings.push(line) };
  return new RemoteText({ name: 'secret kube', read: counted, account: 'prod', clock, log });
}

function makeClient(remote: RemoteText) {
  return createTestClient({}, { clock, remoteKubeconfig: remote });
}

const seenTokens = () => server.seen.map(({ headers }) => headers.authorization);
const kubeconfigOf = (token: string) => server.getKubeconfig({ user: { token } });

describe('a kubeconfig from afar', () => {
  test('is read once for many requests', async () => {
    await using client = makeClient(makeRemote(() => kubeconfigOf('one')));
    await Promise.all(Array.from({ length: 20 }, () => client.getText('/livez')));
    clock.turn(lifetimeMs / 2);
    await client.getText('/livez');
    expect(new Set(seenTokens())).toEqual(new Set(['Bearer one']));
    expect(readings).toBe(1);
  });

  test('is read again when its time is over, while requests go on with what is known', async () => {
    let token = 'one';
    const next = Promise.withResolvers<string>();
    await using client = makeClient(makeRemote(() => (token === 'one' ? kubeconfigOf(token) : next.promise)));
    await client.getText('/livez');
    token = 'two';
    clock.turn(lifetimeMs);
    await client.getText('/livez');
    next.resolve(kubeconfigOf('two'));
    await next.promise;
    clock.turn(5_000);
    await client.getText('/livez');
    expect(seenTokens()).toEqual(['Bearer one', 'Bearer one', 'Bearer two']);
  });

  test('is read again at once when its credentials are refused, but not at each refusal', async () => {
    let token = 'one';
    await using client = makeClient(makeRemote(() => kubeconfigOf(token)));
    await client.getText('/livez');
    token = 'two';
    clock.turn(20_000);
    server.script(answerStatus(401, 'Unauthorized'));
    for (let request = 1; request <= 5; request += 1) {
      await expect(client.getText('/livez')).rejects.toThrow('Unauthorized');
    }
    expect(seenTokens().slice(0, 3)).toEqual(['Bearer one', 'Bearer one', 'Bearer two']);
    expect(readings).toBe(2);
  });

  test('that cannot be read again stays in use, and says so', async () => {
    let works = true;
    const read = () => {
      if (works) return kubeconfigOf('one');
      throw new Error('throttled');
    };
    await using client = makeClient(makeRemote(read));
    await client.getText('/livez');
    works = false;
    for (const ms of [lifetimeMs, 5_000, 5_000]) {
      clock.turn(ms);
      await client.getText('/livez');
    }
    expect(readings).toBe(3);
    expect(warnings[0]).toEqual([
      'A kubeconfig or secret cannot be read again; the previous one stays in use',
      { account: 'prod', error: 'throttled' },
    ]);
  });

  test.each([
    [() => 'users: [', 'account "prod": secret kube: it is not valid YAML'],
    [() => Promise.reject(new Error('denied: do this')), 'account "prod": denied: do this'],
  ])('that is of no use says why', async (read, message) => {
    await using client = makeClient(makeRemote(read));
    await expect(client.getText('/livez')).rejects.toThrow(message);
  });

  test('leads a request to where the cluster has moved', async () => {
    const other = await startScriptedServer();
    let current = server;
    await using client = makeClient(makeRemote(() => current.getKubeconfig(), Number.POSITIVE_INFINITY));
    await client.getText('/livez');
    await server[Symbol.asyncDispose]();
    current = other;
    clock.turn(60_000);
    await client.getText('/livez');
    expect(other.seen).toHaveLength(1);
    expect(clock.slept).toEqual([]);
    await other[Symbol.asyncDispose]();
  });

  test('leads a request to the new authority of the same cluster', async () => {
    const { port } = server;
    await using client = makeClient(makeRemote(() => server.getKubeconfig(), Number.POSITIVE_INFINITY));
    await client.getText('/livez');
    await server[Symbol.asyncDispose]();
    server = await startScriptedServer({ port });
    clock.turn(60_000);
    await client.getText('/livez');
    expect(server.seen).toHaveLength(1);
    expect(readings).toBe(2);
  });
});
