import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestClient, TurnedClock } from '../client/client-setup.ts';
import {
  answerJson,
  answerStatus,
  type ScriptedServer,
  startScriptedServer,
} from '../client/scripted-server.ts';
import { configMaps } from '../watch/watch-setup.ts';

const one = { resource: configMaps, namespace: 'shop', name: 'one' };
const found = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one', namespace: 'shop' } };

let server: ScriptedServer;

beforeEach(async () => {
  server = await startScriptedServer();
});
afterEach(() => server[Symbol.asyncDispose]());

describe('credentials that are refused', () => {
  const refused = answerStatus(401, 'Unauthorized');

  test('count as an absent server for operations where they worked, until the server takes others', async () => {
    const clock = new TurnedClock();
    await using client = createTestClient({ kubeconfigContents: server.getKubeconfig() }, { clock });
    server.script(answerJson(200, found), refused, refused, refused, refused, answerJson(200, {}));
    await client.get(one);
    await expect(client.get(one)).rejects.toMatchObject({ status: 401 });
    expect(await Promise.all([client.isReachable(), client.isReachable()])).toEqual([false, false]);
    const paths = server.seen.map(({ path }) => path);
    expect(paths.slice(3)).toEqual(['/version', '/version']);
    expect(await client.isReachable()).toBe(false);
    expect(server.seen).toHaveLength(paths.length);
    clock.turn(15_000);
    expect(await client.isReachable()).toBe(true);
    expect(await client.isReachable()).toBe(true);
    expect(server.seen).toHaveLength(paths.length + 1);
  });

  test('are waited for by nobody where they never worked, or not within the hour', async () => {
    const clock = new TurnedClock();
    await using client = createTestClient({ kubeconfigContents: server.getKubeconfig() }, { clock });
    server.script(refused, refused, answerJson(200, found), refused, refused);
    await expect(client.get(one)).rejects.toMatchObject({ status: 401 });
    expect(await client.isReachable()).toBe(true);
    await client.get(one);
    await expect(client.get(one)).rejects.toMatchObject({ status: 401 });
    clock.turn(3_600_000);
    expect(await client.isReachable()).toBe(true);
  });
});
