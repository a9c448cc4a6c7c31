import { Pool } from 'undici';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exchange, type WireRequest } from '#providers/kubernetes/transport/exchange.ts';
import { answerJson, type ScriptedServer, startScriptedServer } from '../client/scripted-server.ts';

let server: ScriptedServer;
let dispatcher: Pool;

beforeEach(async () => {
  server = await startScriptedServer();
  dispatcher = new Pool(server.url, { connections: 1, connect: { ca: server.authority.certificate } });
});
afterEach(async () => {
  await dispatcher.destroy();
  await server[Symbol.asyncDispose]();
});

function send(options: Partial<WireRequest> = {}) {
  const request = {
    origin: server.url,
    path: '/x',
    method: 'GET',
    headers: {},
    body: undefined,
    signal: undefined,
    account: 'prod',
    answerBytesMax: 1_000_000,
  };
  return exchange({ dispatcher, timeoutMs: 30_000, ...request, ...options });
}

test('an answer with its status, headers and body', async () => {
  server.script(answerJson(418, { a: 1 }, { 'retry-after': '7' }));
  const answer = await send({ method: 'PUT', body: '{"b":2}', headers: { 'x-many': ['1', '2'] } });
  expect(answer).toMatchObject({
    status: 418,
    headers: { 'retry-after': '7' },
    body: Buffer.from('{"a":1}'),
  });
  expect(server.seen).toMatchObject([
    { method: 'PUT', path: '/x', body: '{"b":2}', headers: { 'x-many': '1, 2' } },
  ]);
});

test('an answer without a body', async () => {
  server.script((response) => response.writeHead(204).end());
  expect((await send()).body.length).toBe(0);
});

test('a signal aborted before sends nothing', async () => {
  await expect(send({ signal: AbortSignal.abort('too late') })).rejects.toBe('too late');
  await send();
  expect(server.seen.length).toBe(1);
});

test('a request given up while it waits for a connection is never sent', async () => {
  const { promise: answered, resolve: answerFirst } = Promise.withResolvers<void>();
  server.script(async (response, request) => {
    await answered;
    answerJson(200, {})(response, request);
  });
  const first = send({ path: '/first' });
  await expect.poll(() => server.seen.length).toBe(1);
  await expect(send({ path: '/second', timeoutMs: 30 })).rejects.toMatchObject({
    name: 'ExchangeError',
    sent: false,
    cause: { name: 'ExchangeTimeoutError' },
  });
  answerFirst();
  await first;
  await send({ path: '/third' });
  expect(server.seen.map(({ path }) => path)).toEqual(['/first', '/third']);
});

test('a failure tells whether the request had been sent', async () => {
  server.script((response) => response.socket?.destroy());
  await expect(send()).rejects.toMatchObject({ name: 'ExchangeError', sent: true });
  await server[Symbol.asyncDispose]();
  await expect(send()).rejects.toMatchObject({ sent: false, cause: { code: 'ECONNREFUSED' } });
});
