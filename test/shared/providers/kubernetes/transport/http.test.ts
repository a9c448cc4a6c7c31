import { once } from 'node:events';
import { createServer as createTcpServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { KubernetesConnectionError } from '#providers/kubernetes/api/errors.ts';
import type { KubernetesClientOptions } from '#providers/kubernetes/client/kubernetes-client.ts';
import { createTestClient, TurnedClock } from '../client/client-setup.ts';
import {
  type Answer,
  answerJson,
  answerStatus,
  type ScriptedServer,
  startScriptedServer,
} from '../client/scripted-server.ts';
import { CertificateAuthority } from '../credentials/certificates.ts';
import { configMaps } from '../watch/watch-setup.ts';

const one = { resource: configMaps, namespace: 'shop', name: 'one' };
const found = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one', namespace: 'shop' } };
const versioned = { ...found, metadata: { ...found.metadata, resourceVersion: '7' } };
const exactly = { preconditions: { uid: 'u-1' } };
const cut: Answer = (response) => response.socket?.destroy();
const hang: Answer = () => undefined;

let server: ScriptedServer;

beforeEach(async () => {
  server = await startScriptedServer();
});
afterEach(() => server[Symbol.asyncDispose]());

function connect(options: Partial<KubernetesClientOptions> = {}, requestTimeoutSeconds = 30) {
  return createTestClient({ kubeconfigContents: server.getKubeconfig(), requestTimeoutSeconds }, options);
}

describe('a request', () => {
  test('carries who we are and reuses its connection', async () => {
    await using client = connect();
    server.script(answerJson(200, found));
    expect(await client.get(one)).toEqual(found);
    expect(await client.get(one)).toEqual(found);
    const [first, second] = server.seen;
    expect(first).toMatchObject({
      method: 'GET',
      path: '/api/v1/namespaces/shop/configmaps/one',
      headers: {
        authorization: 'Bearer secret-token',
        'user-agent': expect.stringMatching(/^busdriver\/\d+\.\d+\.\d+$/),
      },
    });
    expect(second?.clientPort).toBe(first?.clientPort);
    expect(first?.headers['accept-encoding']).toBeUndefined();
  });

  test('goes below the path of a gateway', async () => {
    const kubeconfig = server.getKubeconfig({ cluster: { server: `${server.url}/k8s/clusters/c-1/` } });
    await using client = createTestClient({ kubeconfigContents: kubeconfig });
    await client.getText('/livez');
    expect(server.seen[0]?.path).toBe('/k8s/clusters/c-1/livez');
  });

  test('uses a bounded number of connections', async () => {
    await using client = connect();
    await Promise.all(Array.from({ length: 60 }, () => client.getText('/livez')));
    // On a busy machine the server is asked whether it is alive, too, by a connection of its own.
    const reads = server.seen.filter(({ path }) => path === '/livez');
    expect(reads.length).toBe(60);
    expect(new Set(reads.map(({ clientPort }) => clientPort)).size).toBeLessThanOrEqual(16);
  });

  test('for a list takes a compressed answer', async () => {
    await using client = connect();
    const body = gzipSync(JSON.stringify({ items: [{ metadata: { name: 'ä' } }] }));
    server.script((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(body));
    const listed = await client.list({ resource: configMaps });
    expect(listed).toEqual([{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ä' } }]);
    expect(server.seen[0]?.headers['accept-encoding']).toBe('gzip');
  });

  test('reads an answer that comes in pieces, cut within a character', async () => {
    await using client = connect();
    const bytes = Buffer.from(JSON.stringify({ text: 'grüße' }));
    server.script(async (response) => {
      for (const byte of bytes) {
        response.write(Buffer.of(byte));
        await new Promise(setImmediate);
      }
      response.end();
    });
    expect(await client.getJson('/x')).toEqual({ text: 'grüße' });
  });
});

describe('trouble that passes', () => {
  test.each([
    ['429', answerStatus(429, 'TooManyRequests')],
    ['500', answerStatus(500, 'InternalError')],
    ['502', answerStatus(502, '')],
    ['503', answerStatus(503, 'ServiceUnavailable')],
    ['504', answerStatus(504, 'Timeout')],
    ['a connection that breaks', cut],
  ])('is waited out by a read: %s', async (_what, trouble) => {
    const clock = new TurnedClock();
    await using client = connect({ clock, randomness: { fraction: () => 0.5, id: () => '' } });
    server.script(trouble, trouble, trouble, answerJson(200, found));
    expect(await client.get(one)).toEqual(found);
    expect(clock.slept).toEqual([100, 200, 400]);
  });

  test('is not waited out for ever: the fourth refusal is the last', async () => {
    await using client = connect({ clock: new TurnedClock() });
    server.script(answerStatus(503, 'ServiceUnavailable'));
    await expect(client.get(one)).rejects.toMatchObject({
      name: 'KubernetesApiError',
      status: 503,
      reason: 'ServiceUnavailable',
      message: 'ServiceUnavailable says the server',
    });
    expect(server.seen.length).toBe(4);
  });

  test.each([500, 502, 504])('is waited out for half a minute by operations: status %s', async (status) => {
    const clock = new TurnedClock();
    await using client = connect({ clock, randomness: { fraction: () => 0.5, id: () => '' } });
    const trouble = answerStatus(status, status === 500 ? 'InternalError' : '');
    server.script(...Array.from({ length: 12 }, () => trouble), answerJson(200, found));
    expect(await client.persistent.get(one)).toEqual(found);
    server.script(trouble);
    const start = clock.now();
    await expect(client.persistent.get(one)).rejects.toMatchObject({ status });
    expect(clock.now() - start).toBeGreaterThan(25_000);
    expect(clock.now() - start).toBeLessThan(30_000);
  });

  test.each([
    ['illegal base64 data at input byte 7', 4],
    [
      'failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): .spec.x: field not declared in schema',
      4,
    ],
    ['etcdserver: request timed out', 5],
    ['rpc error: code = Unavailable desc = transport is closing', 5],
  ])(
    'by a 500 without a reason is waited out by operations only where it may pass: %s',
    async (message, tries) => {
      await using client = connect({ clock: new TurnedClock() });
      const trouble = answerJson(500, { kind: 'Status', status: 'Failure', code: 500, message });
      server.script(trouble, trouble, trouble, trouble, answerJson(200, found));
      await client.persistent.get(one).catch((error: unknown) => expect(error).toMatchObject({ message }));
      expect(server.seen).toHaveLength(tries);
    },
  );

  test('lasts as long as the server says, up to ten seconds', async () => {
    const clock = new TurnedClock();
    await using client = connect({ clock, randomness: { fraction: () => 0, id: () => '' } });
    const busy = (seconds: string) => answerStatus(429, 'TooManyRequests', { 'retry-after': seconds });
    server.script(busy('3'), busy('3600'), answerJson(200, found));
    await client.get(one);
    expect(clock.slept).toEqual([3_000, 10_000]);
  });

  test('is not waited out beyond the request time-out', async () => {
    const clock = new TurnedClock();
    await using client = connect({ clock }, 12);
    server.script(answerStatus(429, 'TooManyRequests', { 'retry-after': '9' }));
    await expect(client.get(one)).rejects.toMatchObject({ status: 429 });
    expect(server.seen.length).toBe(2);
  });

  test.each([
    ['PUT with a version', (client: ReturnType<typeof connect>) => client.replace(configMaps, versioned)],
    ['merge patch', (client: ReturnType<typeof connect>) => client.patch(one, { type: 'merge', body: {} })],
    ['apply', (client: ReturnType<typeof connect>) => client.patch(one, { type: 'apply', body: {} })],
    ['DELETE with a uid', (client: ReturnType<typeof connect>) => client.delete(one, exactly)],
  ])('a write that bears repetition is repeated: %s', async (_what, write) => {
    await using client = connect({ clock: new TurnedClock() });
    server.script(cut, answerStatus(500, 'InternalError'), answerJson(200, found));
    expect(await write(client)).toEqual(found);
  });

  test.each([
    ['create', (client: ReturnType<typeof connect>) => client.create(configMaps, found)],
    ['JSON patch', (client: ReturnType<typeof connect>) => client.patch(one, { type: 'json', body: [] })],
    ['PUT without a version', (client: ReturnType<typeof connect>) => client.replace(configMaps, found)],
    ['DELETE without a uid', (client: ReturnType<typeof connect>) => client.delete(one)],
  ])('a write that may have been done is not: %s', async (_what, write) => {
    await using client = connect({ clock: new TurnedClock() });
    server.script(cut, answerStatus(500, 'InternalError'));
    await expect(write(client)).rejects.toThrow(
      /^account "prod" \(context "dev"\): no answer from .*the connection broke/,
    );
    await expect(write(client)).rejects.toMatchObject({ status: 500 });
    expect(server.seen.length).toBe(2);
  });

  test.each([
    ['429', answerStatus(429, 'TooManyRequests')],
    ['503 with Retry-After', answerStatus(503, 'ServiceUnavailable', { 'retry-after': '1' })],
  ])('a create that the server surely did not do is repeated: %s', async (_what, refusal) => {
    await using client = connect({ clock: new TurnedClock() });
    server.script(refusal, answerJson(201, found));
    expect(await client.create(configMaps, found)).toEqual(found);
  });

  test('a create finds a server that was down', async () => {
    const { port, authority } = server;
    await server[Symbol.asyncDispose]();
    const clock = new TurnedClock();
    let revived: Promise<ScriptedServer> | undefined;
    clock.sleep = async () => {
      revived ??= startScriptedServer({ port, authority });
      (await revived).script(answerJson(201, found));
    };
    await using client = connect({ clock });
    expect(await client.create(configMaps, found)).toEqual(found);
    server = (await revived) ?? server;
  });

  test('connections that lay idle are not used again: one of them may be dead', async () => {
    const clock = new TurnedClock();
    await using client = connect({ clock });
    server.script(answerJson(201, found));
    await client.create(configMaps, found);
    clock.turn(44_000);
    await client.create(configMaps, found);
    clock.turn(46_000);
    await client.create(configMaps, found);
    const ports = server.seen.map(({ clientPort }) => clientPort);
    expect(ports[1]).toBe(ports[0]);
    expect(ports[2]).not.toBe(ports[0]);
  });
});

describe('trouble that stays', () => {
  test('a server that never answers: the time-out names itself, and the request is not repeated', async () => {
    await using client = connect({}, 0.2);
    server.script(hang);
    await expect(client.get(one)).rejects.toThrow(
      `account "prod" (context "dev"): no answer within 0.2 s from ${server.url} (kubectlRequestTimeoutSeconds sets how long to wait)`,
    );
    expect(server.seen.length).toBe(1);
  });

  test('an answer that trickles counts as none', async () => {
    await using client = connect({}, 0.3);
    server.script((response) => {
      const timer = setInterval(() => response.write(' '), 20);
      response.once('close', () => clearInterval(timer));
    });
    await expect(client.get(one)).rejects.toThrow('no answer within 0.3 s');
  });

  test('an answer that ends early is no answer', async () => {
    await using client = connect({ clock: new TurnedClock() });
    server.script((response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"apiVersion":');
      response.socket?.end();
    });
    await expect(client.get(one)).rejects.toThrow(KubernetesConnectionError);
    expect(server.seen.length).toBe(4);
  });

  test('a port that nobody listens on', async () => {
    await server[Symbol.asyncDispose]();
    const clock = new TurnedClock();
    await using client = connect({ clock });
    await expect(client.create(configMaps, found)).rejects.toThrow(
      `no answer from ${server.url}: the connection was refused; is the API server up, and is this its address? (ECONNREFUSED)`,
    );
    expect(clock.slept.length).toBe(3);
    server = await startScriptedServer();
  });

  test('a server that takes connections and says nothing, not even hello', async () => {
    const silent = createTcpServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const address = silent.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const kubeconfigContents = server.getKubeconfig({ cluster: { server: `https://127.0.0.1:${port}` } });
    await using client = createTestClient({ kubeconfigContents, requestTimeoutSeconds: 0.2 });
    await expect(client.create(configMaps, found)).rejects.toThrow('no answer within 0.2 s');
    silent.close();
  });

  test.each([
    [
      'an unknown authority',
      { 'certificate-authority-data': '' },
      /not trusted; check .*certificate-authority-data/,
    ],
    ['another host', { 'tls-server-name': 'api.example.com' }, /for another host name; .*tls-server-name/],
  ])('TLS with %s is told and not tried again', async (_what, cluster, message) => {
    const clock = new TurnedClock();
    const kubeconfigContents = server.getKubeconfig({ cluster });
    await using client = createTestClient({ kubeconfigContents }, { clock });
    await expect(client.get(one)).rejects.toThrow(message);
    expect(clock.slept).toEqual([]);
    expect(server.seen).toEqual([]);
  });

  test('an expired certificate', async () => {
    const authority = new CertificateAuthority();
    const identity = authority.issue({ commonName: 'server', hosts: ['127.0.0.1'], expired: true });
    await using old = await startScriptedServer({ authority, identity });
    await using client = createTestClient({ kubeconfigContents: old.getKubeconfig() });
    await expect(client.get(one)).rejects.toThrow('its certificate has expired (CERT_HAS_EXPIRED)');
  });

  test('a page of a load balancer shows its text', async () => {
    await using client = connect({ clock: new TurnedClock() });
    server.script((response) => response.writeHead(403).end('<html><h1>Forbidden</h1> by the wall</html>'));
    await expect(client.get(one)).rejects.toMatchObject({
      status: 403,
      message: 'HTTP 403: Forbidden by the wall',
    });
  });

  test('a success that is no JSON', async () => {
    await using client = connect();
    server.script((response) => response.end('<html>'));
    await expect(client.get(one)).rejects.toThrow('account "prod": the answer to GET is no JSON');
  });
});

describe('TLS settings', () => {
  test('tls-server-name is expected in the place of the host', async () => {
    const authority = new CertificateAuthority();
    const identity = authority.issue({ commonName: 'server', hosts: ['api.example.com'] });
    await using named = await startScriptedServer({ authority, identity });
    const kubeconfigContents = named.getKubeconfig({ cluster: { 'tls-server-name': 'api.example.com' } });
    await using client = createTestClient({ kubeconfigContents });
    expect(await client.getText('/livez')).toBe('{}');
  });

  test('insecure-skip-tls-verify asks for no certificate', async () => {
    const cluster = { 'certificate-authority-data': '', 'insecure-skip-tls-verify': true };
    await using client = createTestClient({ kubeconfigContents: server.getKubeconfig({ cluster }) });
    expect(await client.getText('/livez')).toBe('{}');
  });
});

describe('an aborted request', () => {
  test('rejects at once with the reason, and the server sees it go', async () => {
    await using client = connect();
    const controller = new AbortController();
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    server.script((response) => {
      response.once('close', resolve);
      controller.abort(new Error('lease lost'));
    });
    await expect(client.get(one, { signal: controller.signal })).rejects.toThrow('lease lost');
    await gone;
  });

  test('is not sent when it was aborted before', async () => {
    await using client = connect();
    await expect(client.get(one, { signal: AbortSignal.abort(new Error('too late')) })).rejects.toThrow(
      'too late',
    );
    expect(server.seen).toEqual([]);
  });

  test('stops waiting for the next try', async () => {
    await using client = connect({ randomness: { fraction: () => 0.999, id: () => '' } });
    const controller = new AbortController();
    server.script((response, request) => {
      answerStatus(429, 'TooManyRequests', { 'retry-after': '9' })(response, request);
      response.once('finish', () => setTimeout(() => controller.abort(new Error('shutdown')), 50));
    });
    await expect(client.get(one, { signal: controller.signal })).rejects.toThrow('shutdown');
    expect(server.seen.length).toBe(1);
  });

  test('stops waiting for its turn, and the connection serves others', async () => {
    await using client = connect({ budget: { qps: 0.01, burst: 1 } });
    await client.getText('/livez');
    const signal = AbortSignal.timeout(50);
    await expect(client.get(one, { signal })).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(server.seen.length).toBe(1);
  });
});

test('requests beyond the budget wait', async () => {
  const clock = new TurnedClock();
  await using client = connect({ clock, budget: { qps: 10, burst: 2 } });
  for (let count = 0; count < 5; count += 1) await client.getText('/livez');
  expect(clock.slept.map(Math.round)).toEqual([100, 100, 100]);
});

test('a closed client sends nothing', async () => {
  const client = connect();
  await client.getText('/livez');
  await client[Symbol.asyncDispose]();
  await expect(client.getText('/livez')).rejects.toThrow('account "prod": its client is closed');
});
