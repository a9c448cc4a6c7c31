import { once } from 'node:events';
import { request as sendRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NotFoundError } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import { type Route, routes } from '#functions/routes.ts';
import { type ApiResponse, apiHandler, okText } from '#http/api-handler.ts';
import { type HttpServer, startHttp } from '#infra/server/front-door/http.ts';
import { type Handler, Invoker } from '#infra/server/functions/invoker.ts';
import type { StreamingHandler } from '#infra/server/functions/response-streaming.ts';
import { offerResponseStreaming, ResponseStream } from '#infra/server/functions/response-streaming.ts';

let errors: string[] = [];
const log: Logger = { debug() {}, info() {}, warn() {}, error: (message) => void errors.push(message) };

/** Lets a test decide when the second half of a body comes. */
let secondHalf = Promise.withResolvers<void>();

async function* arriveInHalves(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('first,');
  await secondHalf.promise;
  yield Buffer.from('second');
}

const largeText = JSON.stringify(Array.from({ length: 400_000 }, (_, index) => `häuser ${index * 7919}`));

/** Answers by the name of the function. */
const answers: { readonly [module: string]: () => Promise<ApiResponse> } = {
  small: async () => okText('{"a":1}'),
  large: async () => okText(largeText),
  empty: async () => ({ status: 204, body: '' }),
  halves: async () => ({ status: 200, body: arriveInHalves(), contentType: 'application/octet-stream' }),
  async missing() {
    throw new NotFoundError('Nothing is here');
  },
};

/** Functions that do not keep to what Lambda asks of them. */
const malformed: { readonly [module: string]: StreamingHandler } = {
  silent: async (_event, stream) => void stream.end(),
  undescribed: async (_event, stream) => {
    stream.write(Buffer.alloc(20_000, 'x'));
    await once(stream, 'drain');
  },
  nonsense: async (_event, stream) => {
    stream.write('nonsense\0\0\0\0\0\0\0\0');
    await once(stream, 'drain');
  },
  async endless(_event, stream) {
    const out = awslambda.HttpResponseStream.from(stream, { statusCode: 200 });
    out.write('some');
    await new Promise(() => undefined);
  },
};

let server: HttpServer;

beforeAll(async () => {
  offerResponseStreaming();
  const handlers = new Map<string, unknown>();
  for (const [name, answer] of Object.entries(answers)) {
    handlers.set(
      name,
      apiHandler(() => ({ log }), answer),
    );
  }
  for (const [name, handler] of Object.entries(malformed)) {
    handlers.set(name, awslambda.streamifyResponse(handler as never));
  }
  server = await startHttp({
    routes: [...handlers.keys()].map(toRoute),
    invoker: new Invoker(async (module) => handlers.get(module) as Handler, log),
    log,
    host: '127.0.0.1',
    port: 0,
    allowedHosts: [],
    readLoopDelayMs: () => 0,
  });
});

afterAll(() => server[Symbol.asyncDispose]());

beforeEach(() => {
  errors = [];
  secondHalf = Promise.withResolvers();
});

/** Functions stand behind routes that ask nothing of their callers: another has no row that lets them in. */
function getPath(module: string): string {
  const modules = [...Object.keys(answers), ...Object.keys(malformed)];
  const paths = routes.filter(({ method, path }) => method === 'GET' && !path.includes('{'));
  return paths[modules.indexOf(module)]?.path ?? '/none';
}

function toRoute(module: string): Route {
  // Longer than it takes to begin, on any machine: a function that does not begin in time is answered with 504.
  const timeoutSeconds = module === 'endless' ? 3 : 20;
  return {
    method: 'GET',
    path: getPath(module),
    module,
    reaches: 'store',
    timeoutSeconds,
    access: 'anonymous',
  };
}

describe('a streamed answer', () => {
  it('has status, headers and body', async () => {
    const response = await fetch(`${server.url}${getPath('small')}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json;charset=UTF-8');
    expect(await response.json()).toEqual({ a: 1 });
  });

  it('may be larger than what Lambda hands on in one piece', async () => {
    const response = await fetch(`${server.url}${getPath('large')}`, {
      headers: { 'accept-encoding': 'identity' },
    });
    const text = await response.text();
    expect(text.length).toBeGreaterThan(6_300_000);
    expect(text === largeText).toBe(true);
    expect(response.headers.get('content-encoding')).toBeNull();
  });

  it('is gzipped on its way', async () => {
    const { headers, body } = await send(getPath('large'), { 'accept-encoding': 'gzip' });
    expect([headers['content-encoding'], headers['vary']]).toEqual(['gzip', 'Accept-Encoding']);
    expect(body.length).toBeLessThan(largeText.length / 3);
    expect(gunzipSync(body).toString() === largeText).toBe(true);
  });

  it('may be empty', async () => {
    const response = await fetch(`${server.url}${getPath('empty')}`);
    expect([response.status, await response.text()]).toEqual([204, '']);
  });

  it('to HEAD has no body', async () => {
    const response = await fetch(`${server.url}${getPath('small')}`, { method: 'HEAD' });
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  it('arrives as it comes', async () => {
    const response = await fetch(`${server.url}${getPath('halves')}`);
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(Buffer.from(first?.value ?? []).toString()).toBe('first,');

    secondHalf.resolve();

    const second = await reader?.read();
    expect(Buffer.from(second?.value ?? []).toString()).toBe('second');
    expect((await reader?.read())?.done).toBe(true);
  });

  it('is an error with its own status when it fails before its first byte', async () => {
    const response = await fetch(`${server.url}${getPath('missing')}`);
    expect([response.status, await response.json()]).toEqual([
      404,
      expect.objectContaining({ status: 404, error: 'Not Found', message: 'Nothing is here' }),
    ]);
  });

  it('that breaks off is not taken for a whole one', async () => {
    const response = await fetch(`${server.url}${getPath('halves')}`);
    expect(response.status).toBe(200);
    secondHalf.reject(new Error('the source is gone'));
    await expect(response.text()).rejects.toThrow();
    expect(errors).toContain('an answer broke off');
  });

  it('of a function that is over its time is not taken for a whole one', async () => {
    const response = await fetch(`${server.url}${getPath('endless')}`);
    await expect(response.text()).rejects.toThrow();
  });

  it('nobody waits for any more leaves the server well', async () => {
    const controller = new AbortController();
    const response = await fetch(`${server.url}${getPath('large')}`, { signal: controller.signal });
    await response.body?.getReader().read();
    controller.abort();
    expect((await fetch(`${server.url}${getPath('small')}`)).status).toBe(200);
  });

  it.each(['silent', 'undescribed', 'nonsense'])('of a function that is %s is 500', async (name) => {
    const response = await fetch(`${server.url}${getPath(name)}`);
    expect([response.status, await response.json()]).toEqual([
      500,
      expect.objectContaining({ error: 'Internal Server Error' }),
    ]);
  });
});

it('finds the description wherever the writes part it', async () => {
  const bytes = Buffer.concat([Buffer.from('{"statusCode":200}'), Buffer.alloc(8), Buffer.from('\0body')]);
  for (let at = 0; at <= bytes.length; at += 1) {
    const began: unknown[] = [];
    const taken: Buffer[] = [];
    const stream = new ResponseStream({
      begin: (description) => void began.push(description),
      write: async (piece) => void taken.push(piece),
      end() {},
    });
    stream.write(bytes.subarray(0, at));
    stream.end(bytes.subarray(at));
    await once(stream, 'finish');
    expect([began, Buffer.concat(taken).toString()]).toEqual([[{ statusCode: 200 }], '\0body']);
  }
});

/** `fetch` would unpack the body. */
async function send(
  path: string,
  headers: { readonly [name: string]: string },
): Promise<{ readonly headers: { readonly [name: string]: unknown }; readonly body: Buffer }> {
  return new Promise((resolve, reject) => {
    const call = sendRequest(`${server.url}${path}`, { headers }, async (response) => {
      resolve({ headers: response.headers, body: await buffer(response) });
    });
    call.once('error', reject).end();
  });
}
