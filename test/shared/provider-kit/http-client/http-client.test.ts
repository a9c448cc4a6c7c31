import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { HttpClient, type HttpOptions, type HttpRequest } from '#provider-kit/http-client/http-client.ts';
import { type Origin, startOrigin } from '#test/shared/providers/artifacts/origin.ts';
import { getFailure } from '#test/support/run/failure.ts';

/** A client of a server that answers so. */
async function start(listener: RequestListener, options: Partial<HttpOptions> = {}) {
  const stack = new AsyncDisposableStack();
  const origin: Origin = stack.use(await startOrigin(listener));
  const client = stack.use(new HttpClient({ connections: 2, ...options }));
  const { signal } = new AbortController();
  const send = (request: Partial<HttpRequest> = {}) =>
    client.send({ url: new URL(origin.url), signal, bytesMax: 100, ...request });
  return { origin, client, send, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const endless: RequestListener = (_, response) => {
  const write = () => {
    while (!response.destroyed && response.write(Buffer.alloc(2 ** 16)));
  };
  response.on('drain', write);
  write();
};

describe('an HTTP client', () => {
  it('sends what it is given, and answers any status without following a redirect', async () => {
    await using called = await start(async (request, response) => {
      const body = (await Array.fromAsync(request)).join('');
      response.writeHead(302, { location: '/other', link: ['<a>', '<b>'] });
      response.end(`${request.method} ${request.headers['x-a']} ${body}`);
    });
    const answer = await called.send({ method: 'POST', headers: { 'x-a': '1' }, body: 'text' });
    expect(answer.status).toBe(302);
    expect(answer.getHeader('link')).toBe('<a>, <b>');
    expect(answer.getHeader('etag')).toBe('');
    expect(Buffer.from(answer.bytes ?? []).toString()).toBe('POST 1 text');
    expect(called.origin.requests).toHaveLength(1);
  });

  it('reads no more than it may, and keeps connections whose answers were short', async () => {
    await using called = await start(
      (request, response) => (request.url === '/' ? response.end('x') : endless(request, response)),
      { connections: 1 },
    );
    for (let times = 0; times < 3; times += 1) await called.send();
    await called.send({ isWanted: () => false });
    await called.send();
    expect(called.origin.connections).toBe(1);
    const url = new URL('/endless', called.origin.url);
    expect(await called.send({ url })).toMatchObject({ status: 200, bytes: undefined });
    const unwanted = await called.send({ url, isWanted: () => false });
    expect(unwanted.bytes).toHaveLength(0);
    // The only connection is free again: those to what has no end were cut.
    expect(await called.send()).toMatchObject({ status: 200 });
    expect(called.origin.connections).toBe(3);
  });

  it('waits as long as it may for a server that is silent', async () => {
    await using called = await start(({ url }, response) => void (url === '/begun' && response.write('x')), {
      silenceMs: 50,
    });
    for (const path of ['/', '/begun']) {
      const failure = await getFailure(called.send({ url: new URL(path, called.origin.url) }));
      expect(failure).toMatchObject({ message: 'no answer within 50 ms', code: 'ETIMEDOUT' });
    }
  });

  it('gives up for the reason of its signal, and cuts the connection', async () => {
    let isCut = false;
    await using called = await start((_, response) => {
      response.on('close', () => {
        isCut = true;
      });
      response.write('x');
    });
    const over = new AbortController();
    const sent = getFailure(called.send({ signal: over.signal }));
    await expect.poll(() => called.origin.requests).toHaveLength(1);
    over.abort(new Error('no longer'));
    expect(await sent).toEqual(new Error('no longer'));
    await expect.poll(() => isCut).toBe(true);
    expect(await getFailure(called.send({ signal: over.signal }))).toEqual(new Error('no longer'));
    expect(called.origin.requests).toHaveLength(1);
  });

  it('opens few connections, and ends all that wait for one when it is disposed of', async () => {
    await using called = await start(() => {});
    const sent = [1, 2, 3, 4].map(() => getFailure(called.send()));
    await expect.poll(() => called.origin.requests).toHaveLength(2);
    await called.client[Symbol.asyncDispose]();
    for (const failure of await Promise.all(sent)) expect(failure).toMatchObject({ code: 'ECONNRESET' });
    expect(called.origin.requests).toHaveLength(2);
    expect(called.origin.connections).toBe(2);
  });

  it('refuses headers that are too large', async () => {
    await using called = await start((_, response) => response.setHeader('x', 'x'.repeat(2_000)).end(), {
      headersBytesMax: 1_000,
    });
    expect(await getFailure(called.send())).toMatchObject({ code: 'HPE_HEADER_OVERFLOW' });
  });
});
