import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createConnectionRefusal } from '#infra/server/front-door/connection-refusal.ts';
import { frontDoorLimits } from '#infra/server/front-door/http-limits.ts';

/** Sends the beginning of a request. @returns the answer once the server has waited for the rest in vain */
async function begin(sent: string): Promise<string> {
  const server = createServer({ headersTimeout: 50, requestTimeout: 50, connectionsCheckingInterval: 20 });
  server.on('clientError', createConnectionRefusal(frontDoorLimits)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  try {
    socket.write(sent);
    return await text(socket);
  } finally {
    socket.destroy();
    server.close();
  }
}

test('a request that does not arrive in time is refused with 408', async () => {
  expect(await begin('GET /credentials HTTP/1.1\r\nhost: x')).toMatch(
    /^HTTP\/1\.1 408 .*did not arrive in time/s,
  );
});

test('a connection from which nothing was read, as by a process that stood still, is answered 503: callers repeat it', async () => {
  expect(await begin('')).toMatch(/^HTTP\/1\.1 503 .*\r\nretry-after: 1\r\n.*send it again/s);
});

test('what is no HTTP is refused with 400', async () => {
  expect(await begin('no request\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 .*Malformed request/s);
});
