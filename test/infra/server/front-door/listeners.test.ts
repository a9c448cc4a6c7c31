import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startListeners } from '#infra/server/front-door/listeners.ts';

/** A server that answers, and is gone at the end of the test. */
function makeServer(): Server {
  const server = createServer((_, response) => response.end('here'));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

async function ask(port: number): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}`, { headers: { connection: 'close' } })).text();
}

test('each of many connections is answered, whichever socket took it', async () => {
  const listeners = await startListeners(makeServer(), { host: '127.0.0.1', port: 0 });
  onTestFinished(() => listeners.close());
  const { port } = listeners.address;
  const answers = await Promise.all(Array.from({ length: 100 }, () => ask(port)));
  expect(new Set(answers)).toEqual(new Set(['here']));
});

test('a port that another one of us listens at is refused', async () => {
  const listeners = await startListeners(makeServer(), { host: '127.0.0.1', port: 0 });
  onTestFinished(() => listeners.close());
  const { port } = listeners.address;
  await expect(startListeners(makeServer(), { host: '127.0.0.1', port })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
  expect(await ask(port)).toBe('here');
});

test('a port that is given is listened at, and free again after closing', async () => {
  const first = await startListeners(makeServer(), { host: '127.0.0.1', port: 0 });
  const { port } = first.address;
  first.close();
  for (let count = 0; count < 50; count += 1) await expectRefused(port);
  const second = await startListeners(makeServer(), { host: '127.0.0.1', port });
  onTestFinished(() => second.close());
  expect(second.address.port).toBe(port);
  expect(await ask(port)).toBe('here');
});

async function expectRefused(port: number): Promise<void> {
  const [error] = await once(connect(port, '127.0.0.1'), 'error');
  expect(error).toMatchObject({ code: 'ECONNREFUSED' });
}
