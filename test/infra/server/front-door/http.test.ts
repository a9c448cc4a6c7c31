import { request as sendRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Logger } from '#core/logger.ts';
import type { Route } from '#functions/routes.ts';
import { type HttpServer, startHttp } from '#infra/server/front-door/http.ts';
import { type Handler, Invoker } from '#infra/server/functions/invoker.ts';
import { converse, send8Megabytes } from '#test/support/network/raw-http.ts';

const routes: readonly Route[] = [
  makeRoute('GET', '/credentials', 'echo'),
  makeRoute('GET', '/manifests/{account}/{location}/{name}', 'echo'),
  makeRoute('POST', '/task/{id}', 'echo'),
  makeRoute('GET', '/task/{id}', 'echo'),
  makeRoute('POST', '/{cloudProvider}/ops', 'echo'),
  makeRoute('GET', '/{cloudProvider}/task/{id}/owner', 'echo'),
  makeRoute('GET', '/binary', 'binary'),
  makeRoute('GET', '/cookies', 'cookies'),
  makeRoute('GET', '/fail', 'fail'),
  makeRoute('GET', '/malformed', 'malformed'),
  { ...makeRoute('GET', '/slow', 'slow'), timeoutSeconds: 1 },
];

let contexts: Context[] = [];

/** Functions of this test, by module. */
const functions: { readonly [module: string]: Handler } = {
  async echo(event, context) {
    contexts.push(context);
    return { statusCode: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(event) };
  },
  binary: async () => ({
    statusCode: 200,
    headers: { 'content-encoding': 'gzip', 'Content-Type': 'application/json' },
    body: gzipSync('{"a":1}').toString('base64'),
    isBase64Encoded: true,
  }),
  cookies: async () => ({ statusCode: 204, multiValueHeaders: { 'x-many': ['a', 'b'] }, body: '' }),
  async fail() {
    throw new Error('password=hunter2');
  },
  malformed: async () => ({ status: 200 }),
  slow: () => new Promise(() => {}),
};

let errors: string[] = [];

const log: Logger = { debug() {}, info() {}, warn() {}, error: (message) => void errors.push(message) };

let server: HttpServer;

beforeAll(async () => {
  const load = async (module: string) => functions[module] as Handler;
  server = await startHttp({
    routes,
    invoker: new Invoker(load, log),
    log,
    host: '127.0.0.1',
    port: 0,
    allowedHosts: ['busdriver.test'],
    readLoopDelayMs: () => 0,
  });
});

afterAll(() => server[Symbol.asyncDispose]());

describe('a request', () => {
  test("becomes API Gateway's event", async () => {
    const event = await echo(
      '/manifests/my%20account/_/clusterRole%20system%3Ax?includeEvents=false&a=1&a=2',
      { headers: { 'X-SPINNAKER-USER': 'me', 'User-Agent': 'okhttp' } },
    );
    expect(event).toMatchObject({
      resource: '/manifests/{account}/{location}/{name}',
      path: '/manifests/my%20account/_/clusterRole%20system%3Ax',
      httpMethod: 'GET',
      pathParameters: { account: 'my account', location: '_', name: 'clusterRole system:x' },
      queryStringParameters: { includeEvents: 'false', a: '2' },
      multiValueQueryStringParameters: { includeEvents: ['false'], a: ['1', '2'] },
      body: null,
      isBase64Encoded: false,
      requestContext: { httpMethod: 'GET', identity: { sourceIp: '127.0.0.1', userAgent: 'okhttp' } },
    });
    expect(event.headers['x-spinnaker-user'] ?? event.headers['X-SPINNAKER-USER']).toBe('me');
  });

  test('keeps names of members of every object apart, as headers, in the query and in the path', async () => {
    const names = ['constructor', '__proto__', 'hasOwnProperty', 'toString', 'prototype'];
    const headers = Object.fromEntries(names.map((name) => [name, [`${name} 1`, `${name} 2`]]));
    const query = names.flatMap((name) => [`${name}=1`, `${name}=2`]).join('&');
    const event = await echo(`/manifests/constructor/__proto__/toString?${query}`, { headers });
    expect(event.pathParameters).toEqual({ account: 'constructor', location: '__proto__', name: 'toString' });
    for (const name of names) {
      const get = (map: object | null) => Object.getOwnPropertyDescriptor(map ?? {}, name)?.value;
      expect(get(event.queryStringParameters)).toBe('2');
      expect(get(event.multiValueQueryStringParameters)).toEqual(['1', '2']);
      expect(get(event.multiValueHeaders)).toEqual([`${name} 1`, `${name} 2`]);
      expect(get(event.headers)).toBe(`${name} 2`);
    }
  });

  test.each([
    ['32,000 parameters', `/credentials?${'a=&'.repeat(16_000)}`, {}],
    [
      '32,000 names',
      `/credentials?${Array.from({ length: 8_000 }, (_, index) => index.toString(36)).join('&')}`,
      {},
    ],
    ['30,000 segments', `/credentials${'/a'.repeat(30_000)}`, {}],
    ['a path of percent signs', `/credentials/${'%41'.repeat(20_000)}`, {}],
    ['1,000 headers of one name', '/credentials', { x: Array.from({ length: 1_000 }, () => 'y') }],
  ])('of %s is answered at once', async (_, target, headers) => {
    const used = process.threadCpuUsage();
    const answer = await send(target, { headers });
    expect([200, 400, 404, 431]).toContain(answer.status);
    expect(process.threadCpuUsage(used).user / 1_000).toBeLessThan(1_000);
  });

  test('keeps an encoded slash within its segment', async () => {
    const event = await echo('/manifests/a/b/pod%20x%2Fy');
    expect(event.pathParameters?.name).toBe('pod x/y');
  });

  test('may end in a slash', async () => {
    expect((await echo('/credentials/')).resource).toBe('/credentials');
  });

  test('goes to the literal path rather than the variable, and to the variable where the literal ends', async () => {
    expect((await echo('/task/1:resume', { method: 'POST' })).resource).toBe('/task/{id}');
    expect((await echo('/task/ops', { method: 'POST' })).resource).toBe('/task/{id}');
    expect((await echo('/kubernetes/ops', { method: 'POST' })).resource).toBe('/{cloudProvider}/ops');
    expect((await echo('/task/task/1/owner')).pathParameters).toEqual({ cloudProvider: 'task', id: '1' });
  });

  test('carries its body as text, or in base64 where it is none', async () => {
    const posted = await echo('/kubernetes/ops', { method: 'POST', body: '[{"ü":1}]' });
    expect(posted).toMatchObject({ body: '[{"ü":1}]', isBase64Encoded: false });
    const packed = gzipSync('[]');
    const binary = await echo('/kubernetes/ops', { method: 'POST', body: packed });
    expect(binary).toMatchObject({ body: packed.toString('base64'), isBase64Encoded: true });
  });

  test('with a repeated header shows all its values', async () => {
    const answer = await send('/credentials', { headers: { 'x-forwarded-for': ['1.1.1.1', '2.2.2.2'] } });
    const event: APIGatewayProxyEvent = JSON.parse(answer.body);
    expect(event.multiValueHeaders['x-forwarded-for']).toEqual(['1.1.1.1', '2.2.2.2']);
    expect(event.headers['x-forwarded-for']).toBe('2.2.2.2');
  });

  test("runs in a context like Lambda's", async () => {
    contexts = [];
    const answer = await send('/credentials');
    expect(contexts[0]?.awsRequestId).toBe(answer.headers['x-amzn-requestid']);
    expect(contexts[0]?.functionName).toBe('echo');
    const remaining = contexts[0]?.getRemainingTimeInMillis() ?? 0;
    expect(remaining).toBeGreaterThan(15_000);
    expect(remaining).toBeLessThanOrEqual(20_000);
  });
});

describe('an answer', () => {
  test('in base64 leaves as its bytes', async () => {
    const response = await fetch(`${server.url}/binary`);
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(await response.json()).toEqual({ a: 1 });
  });

  test('may repeat a header, and have no body', async () => {
    const answer = await send('/cookies');
    expect(answer).toMatchObject({ status: 204, body: '' });
    expect(answer.rawHeaders.filter((name) => name === 'x-many')).toHaveLength(2);
  });

  test('to HEAD is that to GET without its body', async () => {
    const answer = await send('/credentials', { method: 'HEAD' });
    expect(answer.status).toBe(200);
    expect(answer.body).toBe('');
    expect(Number(answer.headers['content-length'])).toBeGreaterThan(100);
  });

  test('of a function that throws is 500 and tells nothing', async () => {
    const answer = await send('/fail');
    expect(answer.status).toBe(500);
    expect(answer.body).not.toContain('hunter2');
    expectErrorBody(answer, 'Internal Server Error');
  });

  test('that is malformed is 500, and logged', async () => {
    errors = [];
    expectErrorBody(await send('/malformed'), 'Internal Server Error');
    expect(errors).toEqual(['statusCode must be a number from 200 to 599']);
  });

  test('that does not come in time is 504', async () => {
    const answer = await send('/slow');
    expect(answer.status).toBe(504);
    expectErrorBody(answer, 'Gateway Timeout');
  });
});

describe('refused is', () => {
  test.each([
    ['an unknown path', '/nothing/here', 404],
    ['an empty segment', '/task/', 404],
    ['a path below a route', '/credentials/a/b/c', 404],
    ['a malformed percent-encoding', '/task/%zz', 400],
    ['a malformed percent-encoding in the query', '/credentials?a=%zz', 400],
    ['a truncated UTF-8 sequence', '/task/%C3', 400],
    ['a null byte', '/task/a%00b', 400],
    ['a line break', '/task/a%0d%0ab', 400],
    ['a step upwards', '/task/..', 400],
    ['an encoded step upwards', '/manifests/a/b/%2e%2e', 400],
  ])('%s', async (_, target, status) => {
    const answer = await send(target);
    expect(answer.status).toBe(status);
    expectErrorBody(answer);
  });

  test.each(['DELETE', 'OPTIONS', 'PATCH', 'TRACE'])(
    '%s where it is no method of the path',
    async (method) => {
      const answer = await send('/task/1', { method });
      expect(answer.status).toBe(405);
      expect(answer.headers.allow).toBe('GET, HEAD, POST');
      expectErrorBody(answer, 'Method Not Allowed');
    },
  );

  test('a foreign host, and not one that is allowed', async () => {
    const ask = (host: string) => send('/credentials', { headers: { host } });
    for (const host of ['evil.test', 'localhost.evil.test:80', '127.0.0.1.evil.test']) {
      const answer = await ask(host);
      expect(answer.status).toBe(403);
      expectErrorBody(answer, 'Forbidden');
    }
    for (const host of ['localhost:7002', '127.0.0.1', '[::1]:7002', '10.1.2.3', 'BusDriver.test:7002']) {
      expect((await ask(host)).status).toBe(200);
    }
  });

  test.each([
    ['a foreign one behind its own', 'localhost', 'evil.test'],
    ['its own behind a foreign one', 'evil.test', 'localhost'],
    ['its own twice', 'localhost', 'localhost'],
  ])('a request with two headers Host: %s', async (_, one, other) => {
    const answer = await converse(
      server.url,
      `GET /credentials HTTP/1.1\r\nHost: ${one}\r\nHost: ${other}\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain('The request has 2 headers Host: expected one');
  });

  test('a web page, but for its own', async () => {
    const ask = (origin: string) => send('/credentials', { headers: { origin } });
    expect((await ask('https://evil.test')).status).toBe(403);
    expect((await ask('null')).status).toBe(403);
    expect((await ask('http://127.0.0.1:1')).status).toBe(403);
    expect((await ask(server.url)).status).toBe(200);
  });
});

describe('a body', () => {
  test("up to Lambda's limit is taken, counted with what surrounds it", async () => {
    const answer = await send('/kubernetes/ops', { method: 'POST', body: 'x'.repeat(6_000_000) });
    expect(answer.status).toBe(200);
  });

  test.each([
    ['over the limit', 'x'.repeat(7_000_000)],
    ['that exceeds the limit once it is escaped', '"'.repeat(4_000_000)],
  ])('%s is answered with 413 and the limit', async (_, body) => {
    const answer = await send('/kubernetes/ops', { method: 'POST', body });
    expect(answer.status).toBe(413);
    expect(answer.body).toContain('6 MB');
    expectErrorBody(answer, 'Payload Too Large');
  });

  test.each([
    {
      who: 'closes the connection',
      line: 'POST /kubernetes/ops HTTP/1.1',
      header: 'Connection: close',
      status: 413,
    },
    { who: 'speaks HTTP/1.0', line: 'POST /kubernetes/ops HTTP/1.0', header: 'X-A: b', status: 413 },
    { who: 'names a foreign host', line: 'POST /kubernetes/ops HTTP/1.1', host: 'evil.test', status: 403 },
    { who: 'asks for what is not there', line: 'POST /nothing HTTP/1.1', status: 404 },
  ])('that is refused is dropped, so that a client gets its answer who $who', async (row) => {
    const { line, host = 'localhost', header = 'Connection: close', status } = row;
    const head = `${line}\r\nHost: ${host}\r\n${header}\r\nContent-Length: 8000000\r\n\r\n`;
    const answer = await send8Megabytes(server.url, head);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toMatch(/"message":".+"\}$/);
  });

  test('without end is cut off', async () => {
    const ended = new Promise<string>((resolve) => {
      const call = sendRequest(`${server.url}/kubernetes/ops`, { method: 'POST' }, async (response) => {
        resolve(String(response.statusCode));
        call.destroy();
      });
      call.on('error', (error) => resolve(error.message));
      const chunk = Buffer.alloc(1 << 20, 'x');
      const write = (): void => {
        while (!call.destroyed && call.write(chunk));
        if (!call.destroyed) call.once('drain', write);
      };
      write();
    });
    expect(await ended).toMatch(/413|ECONNRESET|EPIPE|socket hang up/);
    expect((await send('/credentials')).status).toBe(200);
  });
});

describe('a connection', () => {
  test('with headers that are too large gets 431', async () => {
    const answer = await converse(
      server.url,
      `GET /credentials HTTP/1.1\r\nHost: localhost\r\nX-A: ${'a'.repeat(70_000)}\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 431 /);
    expect(answer).toContain('"status":431');
  });

  test('gets its answer whatever it still sends', async () => {
    expect(await send8Megabytes(server.url, 'GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ')).toMatch(
      /^HTTP\/1.1 431 .*\}$/s,
    );
    expect(await send8Megabytes(server.url, 'hello\r\n\r\n')).toMatch(/^HTTP\/1.1 400 .*\}$/s);
  });

  test('that speaks no HTTP gets 400', async () => {
    const answer = await converse(server.url, 'hello\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain('"error":"Bad Request"');
  });

  test('serves one request after another', async () => {
    const one = 'GET /credentials HTTP/1.1\r\nHost: localhost\r\n';
    const answer = await converse(server.url, `${one}\r\n${one}Connection: close\r\n\r\n`);
    expect(answer.match(/HTTP\/1.1 200 OK/g)).toHaveLength(2);
  });
});

function makeRoute(method: Route['method'], path: string, module: string): Route {
  return { method, path, module, reaches: 'store', timeoutSeconds: 20, access: 'anonymous' };
}

interface Request {
  readonly method?: string;
  readonly headers?: { readonly [name: string]: string | string[] };
  readonly body?: string | Buffer;
}

interface Answer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** `fetch` would tidy paths and set headers of its own. */
async function send(path: string, { method = 'GET', headers = {}, body }: Request = {}): Promise<Answer> {
  const { port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, method, headers, agent: false };
    const call = sendRequest(options, async (response) => {
      const { statusCode: status = 0, rawHeaders } = response;
      resolve({ status, headers: response.headers, rawHeaders, body: await text(response) });
    });
    call.once('error', reject).end(body);
  });
}

async function echo(path: string, request: Request = {}): Promise<APIGatewayProxyEvent> {
  const answer = await send(path, request);
  expect(answer.status).toBe(200);
  return JSON.parse(answer.body);
}

function expectErrorBody(answer: Answer, error?: string): void {
  expect(answer.headers['content-type']).toBe('application/json;charset=UTF-8');
  const body = JSON.parse(answer.body);
  expect(body).toMatchObject({ status: answer.status, error: error ?? expect.any(String) });
  expect(body.message).toEqual(expect.any(String));
  expect(body.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
}
