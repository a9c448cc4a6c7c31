import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createProxyConnector } from '#providers/kubernetes/credentials/proxy-tunnel.ts';
import { createTestClient, TurnedClock } from '../client/client-setup.ts';
import { type ScriptedServer, startScriptedServer } from '../client/scripted-server.ts';

let server: ScriptedServer;
let proxy: Server;
let sockets: Set<Socket>;
/** Targets that the proxy was asked for, with what it was told about who asks. */
let asked: string[];

beforeEach(async () => {
  server = await startScriptedServer();
  asked = [];
  sockets = new Set();
  proxy = createServer().on('connect', (request, socket: Socket) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization'] ?? 'nobody'}`);
    sockets.add(socket);
    if (request.headers['proxy-authorization'] === undefined) return socket.end('HTTP/1.1 407 Who?\r\n\r\n');
    const upstream = connect(server.port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    socket.on('error', () => undefined).once('close', () => upstream.destroy());
    upstream.on('error', () => undefined).once('close', () => socket.destroy());
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  proxy.close();
  await server[Symbol.asyncDispose]();
});

function connectThrough(credentials: string, scheme = 'http') {
  const { port } = proxy.address() as AddressInfo;
  const cluster = { 'proxy-url': `${scheme}://${credentials}127.0.0.1:${port}` };
  return createTestClient(
    { kubeconfigContents: server.getKubeconfig({ cluster }) },
    { clock: new TurnedClock() },
  );
}

test('requests go through the proxy of the kubeconfig, TLS from end to end', async () => {
  await using client = connectThrough('jane:p%40ss@');
  expect(await client.getText('/livez')).toBe('{}');
  expect(await client.getText('/livez')).toBe('{}');
  const basic = Buffer.from('jane:p@ss').toString('base64');
  expect(asked).toEqual([`127.0.0.1:${server.port} Basic ${basic}`]);
  expect(server.seen[0]?.headers).not.toHaveProperty('proxy-authorization');
});

test('requests go through the proxy of the environment, but where NO_PROXY has the server or the kubeconfig names another', async () => {
  const { port } = proxy.address() as AddressInfo;
  const cluster = { server: 'https://k8s.example:6443', 'tls-server-name': '127.0.0.1' };
  const kubeconfigContents = server.getKubeconfig({ cluster });
  const HTTPS_PROXY = `http://jane:p@127.0.0.1:${port}`;
  {
    await using client = createTestClient({ kubeconfigContents }, { environment: { HTTPS_PROXY } });
    expect(await client.getText('/livez')).toBe('{}');
  }
  const basic = Buffer.from('jane:p').toString('base64');
  expect(asked).toEqual([`k8s.example:6443 Basic ${basic}`]);
  const environment = { HTTPS_PROXY: 'http://127.0.0.1:1', NO_PROXY: '' };
  const named = server.getKubeconfig({ cluster: { ...cluster, 'proxy-url': HTTPS_PROXY } });
  {
    await using client = createTestClient({ kubeconfigContents: named }, { environment });
    expect(await client.getText('/livez')).toBe('{}');
  }
  {
    await using client = createTestClient({ kubeconfigContents: server.getKubeconfig() }, { environment });
    expect(await client.getText('/livez')).toBe('{}');
  }
});

test('a proxy that refuses is told, without its password', async () => {
  await using client = connectThrough('');
  await expect(client.getText('/livez')).rejects.toThrow(/the proxy refused the tunnel \(HTTP 407\)/);
});

test('a proxy of another kind is refused', async () => {
  await using client = connectThrough('jane:secret-password@', 'socks5');
  const failure = await client.getText('/livez').catch(String);
  expect(failure).toContain(
    'account "prod" (context "dev"): the cluster\'s proxy-url must be an http or https URL (found socks5:)',
  );
  expect(failure).not.toContain('secret-password');
});

test('certificates behind a proxy are checked', async () => {
  const { port } = proxy.address() as AddressInfo;
  const cluster = { 'proxy-url': `http://jane:p@127.0.0.1:${port}`, 'tls-server-name': 'other.example.com' };
  await using client = createTestClient({ kubeconfigContents: server.getKubeconfig({ cluster }) });
  await expect(client.getText('/livez')).rejects.toThrow('its certificate is for another host name');
});

test('a proxy that answers byte by byte, or without an end, is given up', async () => {
  const trickles = new Map<Socket, NodeJS.Timeout>();
  proxy.removeAllListeners('connect').on('connect', (_request, socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).write('HTTP/1.1 200 OK\r\nx: ');
    trickles.set(
      socket,
      setInterval(() => socket.write('x'), 20),
    );
    socket.once('close', () => clearInterval(trickles.get(socket)));
  });
  const { port } = proxy.address() as AddressInfo;
  const connector = createProxyConnector({
    proxyUrl: `http://127.0.0.1:${port}`,
    tls: {},
    connectTimeoutMs: 2_000,
  });
  const target = { hostname: 'api', port: '443', protocol: 'https:' };
  const connecting = new Promise((resolve) => connector(target, (...[error]) => resolve(error)));
  expect(await connecting).toMatchObject({ message: 'the proxy did not answer' });
  await expect.poll(() => [...sockets].every((socket) => socket.destroyed)).toBe(true);
});
