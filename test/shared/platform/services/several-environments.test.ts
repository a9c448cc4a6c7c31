import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { readEnvironment } from '#platform/config.ts';
import { KubernetesSession } from '#providers/kubernetes/account/session.ts';
import type { KubernetesClient } from '#providers/kubernetes/api/client.ts';
import {
  answerJson,
  answerStatus,
  type ScriptedServer,
  startScriptedServer,
  toBase64,
} from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { type AwsEndpoints, startAwsEndpoints } from '#test/support/engines/aws-endpoints.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { createTestClock, type TestClock, testRandomness } from '#test/support/run/test-clock.ts';
import { openLookups as openParts } from '#test/support/services/lookup-processes.ts';
import { createTestHost } from '#test/support/services/test-host.ts';

const minute = 60_000;
const openTable = useLocalTables();

let aws: AwsEndpoints;
let server: ScriptedServer;
let clock: TestClock;
let name: string;
let sessions: KubernetesSession[];
let warnings: unknown[];
/** Calls of the table. */
let looks: number;

beforeEach(async () => {
  aws = await startAwsEndpoints();
  server = await startScriptedServer();
  clock = createTestClock();
  name = `c${testRandomness.id()}`;
  sessions = [];
  warnings = [];
  looks = 0;
});
afterEach(async () => {
  for (const session of sessions) await session[Symbol.asyncDispose]();
  vi.unstubAllEnvs();
  await server[Symbol.asyncDispose]();
  await aws[Symbol.asyncDispose]();
});

/** The client of an account in an environment that has just been started: it has nothing in common with others but the table. */
function startEnvironment(account: JsonObject): Pick<KubernetesClient, 'getText'> {
  const log = { debug() {}, info() {}, warn: (...line: unknown[]) => warnings.push(line), error() {} };
  const parts = openParts(openTable(cacheTable), clock, log);
  const openLookups = async () => {
    looks += 1;
    return parts;
  };
  const session = new KubernetesSession({
    settings: { kubernetes: { accounts: [{ name: 'prod', ...account }] } },
    clock,
    randomness: testRandomness,
    log,
    placement: 'deployed',
    environment: readEnvironment(),
    services: createTestHost({ clock, openLookups }),
  });
  sessions.push(session);
  const found = session.findAccount('prod');
  if (found === undefined) throw new Error('there is no such account');
  return { getText: async (path) => (await session.getClient(found)).getText(path) };
}

const startEks = () => startEnvironment({ eks: { cluster: name } });
const startSecret = () => startEnvironment({ kubeconfigSecret: name });

function placeCluster(): void {
  aws.clusters.set(name, {
    endpoint: server.url,
    certificateAuthority: { data: toBase64(server.authority.certificate) },
    status: 'ACTIVE',
  });
}

/** Gives the secret a kubeconfig with this token. */
function writeSecret(token: string): void {
  aws.secrets.set(name, { SecretString: server.getKubeconfig({ user: { token } }) });
}

/** Calls about the cluster, or the secret, of this test: environments of the one before may still be reading. */
const countCalls = () =>
  aws.calls.filter(({ parameters }) => [parameters['name'], parameters['SecretId']].includes(name)).length;

const lastToken = () => server.seen.at(-1)?.headers.authorization;

describe('an EKS cluster', () => {
  test('is looked up by the first of several environments', async () => {
    placeCluster();
    const clients = Array.from({ length: 8 }, startEks);
    await Promise.all(clients.map((client) => client.getText('/livez')));
    expect(server.seen).toHaveLength(8);
    expect(countCalls()).toBe(1);
  });

  test('that has moved is found at once by an environment that starts with what another one was told long ago', async () => {
    placeCluster();
    const first = startEks();
    await first.getText('/livez');
    await server[Symbol.asyncDispose]();
    server = await startScriptedServer();
    placeCluster();
    clock.advance(60 * minute);
    await startEks().getText('/livez');
    await first.getText('/livez');
    expect(server.seen).toHaveLength(2);
    expect(countCalls()).toBe(2);
  });

  test('is reached where it was known to be while EKS throttles, and after a day the log says so', async () => {
    placeCluster();
    await startEks().getText('/livez');
    aws.clusters.set(name, { status: 429, code: 'TooManyRequestsException', message: 'Too Many Requests' });
    clock.advance(30 * 60 * minute);
    await startEks().getText('/livez');
    await expect.poll(() => JSON.stringify(warnings)).toContain('TooManyRequestsException');
    await startEks().getText('/livez');
    expect(server.seen).toHaveLength(3);
    expect(countCalls()).toBe(2);
  });

  test('whose server is dead is asked for by all environments together every two minutes in the end', async () => {
    placeCluster();
    const clients = [startEks(), startEks(), startEks()];
    for (const client of clients) await client.getText('/livez');
    server.script(answerStatus(401, 'Unauthorized'));
    for (let seconds = 0; seconds < 600; seconds += 10) {
      clock.advance(10_000);
      for (const client of clients) await expect(client.getText('/livez')).rejects.toThrow('Unauthorized');
    }
    // At 10, 30, 70, 150, 270, 390 and 510 seconds; each environment by itself asked 60 times.
    expect(countCalls() - 1).toBeLessThanOrEqual(8);
  });
});

test.each([
  ['an EKS cluster', () => startEks(), 5],
  ['a kubeconfig in Secrets Manager', () => startSecret(), 0],
])('%s costs warm requests no look at the table', async (_, start, first) => {
  placeCluster();
  writeSecret('one');
  const client = start();
  await client.getText('/livez');
  expect(looks).toBeLessThanOrEqual(first);
  looks = 0;
  for (let second = 0; second < 200; second += 5) {
    clock.advance(5_000);
    await client.getText('/livez');
  }
  expect(server.seen).toHaveLength(41);
  expect(looks).toBe(0);
});

describe('a kubeconfig in Secrets Manager', () => {
  test('is read by each environment once, and then by one of them in five minutes', async () => {
    writeSecret('one');
    const clients = Array.from({ length: 5 }, startSecret);
    for (const client of clients) await client.getText('/livez');
    expect(countCalls()).toBe(5);
    for (let seconds = 0; seconds < 1_800; seconds += 20) {
      clock.advance(20_000);
      // They read in the background: what is begun at a time ends at about that time.
      for (let round = 0; round < 4; round += 1)
        await Promise.all(clients.map((client) => client.getText('/livez')));
    }
    const more = countCalls() - 5;
    // On a busy machine one may read before another has told.
    expect(more).toBeGreaterThan(0);
    // By themselves they would read it 30 times or more.
    expect(more).toBeLessThan(12);
  });

  test('that has changed is used by all of them within five minutes', async () => {
    writeSecret('one');
    const clients = Array.from({ length: 3 }, startSecret);
    for (const client of clients) await client.getText('/livez');
    clock.advance(4 * minute);
    for (const client of clients) await client.getText('/livez');
    writeSecret('two');
    for (let seconds = 0; seconds < 320; seconds += 10) {
      clock.advance(10_000);
      for (const client of clients) await client.getText('/livez');
    }
    for (const client of clients) {
      // What is read in the background serves the request after it.
      await expect
        .poll(async () => {
          clock.advance(4_000);
          await client.getText('/livez');
          return lastToken();
        })
        .toBe('Bearer two');
    }
  });

  test('is read again at once by each environment whose token is refused', async () => {
    writeSecret('one');
    const clients = [startSecret(), startSecret()];
    for (const client of clients) await client.getText('/livez');
    writeSecret('two');
    clock.advance(minute);
    for (const client of clients) {
      server.script(answerStatus(401, 'Unauthorized'), answerJson(200, {}));
      await client.getText('/livez');
      expect(lastToken()).toBe('Bearer two');
    }
    expect(countCalls()).toBe(4);
  });
});
