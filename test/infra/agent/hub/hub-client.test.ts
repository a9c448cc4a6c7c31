import { createServer, type IncomingHttpHeaders } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { HubAwayError, HubClient } from '#infra/agent/hub/hub-client.ts';
import { closeServer, listenLocally } from '#test/support/network/local-server.ts';

/** A server that answers all requests alike, and a client of it. */
async function open(bytes: Uint8Array, headers: { readonly [name: string]: string }) {
  const asked: IncomingHttpHeaders[] = [];
  const connections = new Set<number | undefined>();
  const server = createServer((request, response) => {
    asked.push(request.headers);
    connections.add(request.socket.remotePort);
    response.writeHead(200, headers).end(bytes);
  });
  const port = await listenLocally(server);
  const client = new HubClient(`http://127.0.0.1:${port}`);
  return {
    asked,
    connections,
    call: () => client.call({ method: 'GET', path: '/agent/v1/x', token: 'token' }),
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await closeServer(server);
    },
  };
}

const packed = { 'content-encoding': 'gzip' };

test('an agent asks for gzipped answers, and reads such and others', async () => {
  const body = { heads: [{ name: 'ü' }] };
  const text = JSON.stringify(body);
  await using gzipped = await open(gzipSync(text), packed);
  expect(await gzipped.call()).toEqual({ status: 200, body });
  expect(gzipped.asked[0]?.['accept-encoding']).toBe('gzip');
  await using plain = await open(Buffer.from(text), {});
  expect(await plain.call()).toEqual({ status: 200, body });
});

test('an answer that is no gzip, or grows too large, counts as none', async () => {
  await using wrong = await open(Buffer.from('{}'), packed);
  await expect(wrong.call()).rejects.toThrow(HubAwayError);
  await using bomb = await open(gzipSync(Buffer.alloc(33 * 2 ** 20, 0x20)), packed);
  await expect(bomb.call()).rejects.toThrow(/larger than 33554432 bytes/);
});

test('calls that follow one another at once go over one connection', async () => {
  await using hub = await open(Buffer.from('{}'), {});
  for (let i = 0; i < 20; i += 1) await hub.call();
  expect(hub.connections.size).toBe(1);
});
