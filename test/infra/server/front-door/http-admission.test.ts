import { type ClientRequest, request as sendRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, onTestFinished, test } from 'vitest';
import type { Route } from '#functions/routes.ts';
import { type HttpServer, startHttp } from '#infra/server/front-door/http.ts';
import { type FrontDoorLimits, frontDoorLimits } from '#infra/server/front-door/http-limits.ts';
import type { FindAgent } from '#infra/server/front-door/proved-agents.ts';
import { type Handler, Invoker } from '#infra/server/functions/invoker.ts';
import { silentLog as log } from '#test/support/engines/silent-log.ts';

const toRoute = (method: 'GET' | 'POST', path: string, module: string): Route => {
  return { method, path, module, reaches: 'store', access: 'anonymous', timeoutSeconds: 20 };
};
const routes: readonly Route[] = [
  toRoute('GET', '/task/{id}', 'echo'),
  toRoute('GET', '/manifests/{account}', 'echo'),
  toRoute('GET', '/wait/{account}', 'wait'),
  { ...toRoute('GET', '/agent/v1/wait', 'wait'), api: 'agent' },
  toRoute('GET', '/health', 'echo'),
  { ...toRoute('GET', '/tasks/{id}', 'echo'), access: { task: 'READ' } },
  { ...toRoute('GET', '/ends/{id}', 'poll'), access: { task: 'READ' }, uses: ['readTasks'] },
  { ...toRoute('POST', '/ops', 'echo'), access: { operations: true } },
];

/** A front door with some limits lower, and a route at which requests wait until they are released. */
async function startFront(
  limits: Partial<FrontDoorLimits>,
  findAgent?: FindAgent,
  readLoopDelayMs = () => 0,
) {
  const waited: (string | undefined)[] = [];
  const release = Promise.withResolvers<void>();
  const answer = { statusCode: 200, body: '{}' };
  const functions: { readonly [module: string]: Handler } = {
    echo: async () => answer,
    poll: async (event) =>
      (event as APIGatewayProxyEvent).queryStringParameters?.['waitSeconds'] === undefined
        ? answer
        : functions['wait']?.(event, {} as never),
    wait: (event) => {
      waited.push((event as APIGatewayProxyEvent).headers['authorization']);
      return release.promise.then(() => answer);
    },
  };
  const server: HttpServer = await startHttp({
    routes,
    invoker: new Invoker(async (module) => functions[module] as Handler, log),
    log,
    host: '127.0.0.1',
    port: 0,
    allowedHosts: [],
    limits: { ...frontDoorLimits, ...limits },
    readLoopDelayMs,
    ...(findAgent && { findAgent }),
  });
  onTestFinished(async () => {
    release.resolve();
    await server[Symbol.asyncDispose]();
  });
  return { url: server.url, waited, release: () => release.resolve() };
}

async function ask(url: string, user?: string): Promise<Response> {
  return fetch(url, user === undefined ? {} : { headers: { 'x-spinnaker-user': user } });
}

async function expectOverload(response: Response, message: RegExp): Promise<void> {
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('1');
  const body = (await response.json()) as { message: string; error: string };
  expect(body.message).toMatch(message);
  expect(body.error).toBe('Service Unavailable');
}

/** Sends the beginning of a body, and no more of it. */
function hold(url: string, { bytes, user = 'holder' }: { bytes: number; user?: string }) {
  const headers = { 'content-length': bytes + 1, 'x-spinnaker-user': user };
  const call: ClientRequest = sendRequest(`${url}/ops`, { method: 'POST', headers });
  const answered = new Promise<{ status: number; headers: object; body: string }>((resolve, reject) => {
    call.on('response', async (response) => {
      const body = await text(response);
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
    });
    call.on('error', reject);
  });
  answered.catch(() => undefined);
  onTestFinished(() => void call.destroy());
  call.write(Buffer.alloc(bytes, 'x'));
  return { answered, end: () => call.end('x'), destroy: () => call.destroy() };
}

test('takes on so many requests at a time, and others once those are answered', async () => {
  const { url, release } = await startFront({ requestsMax: 2 });
  const waiting = [ask(`${url}/wait/a`, 'one'), ask(`${url}/wait/b`, 'two')];
  await expect.poll(async () => (await ask(`${url}/task/1`, 'three')).status).toBe(503);
  await expectOverload(await ask(`${url}/task/1`, 'three'), /^Too much at once: 2 requests are under way/);
  release();
  for (const each of waiting) expect((await each).status).toBe(200);
  await expect.poll(async () => (await ask(`${url}/task/1`, 'three')).status).toBe(200);
});

test('a process that is late refuses requests before it reads their bodies, and says that it lives', async () => {
  let delayMs = 500;
  const { url } = await startFront({}, undefined, () => delayMs);
  expect((await ask(`${url}/task/1`)).status).toBe(200);
  delayMs = 501;
  await expectOverload(
    await ask(`${url}/task/1`),
    /^Too much at once: this process is 501 ms late; try again$/,
  );
  const held = hold(url, { bytes: 10 });
  expect(await held.answered).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  expect((await ask(`${url}/health`)).status).toBe(200);
  delayMs = 0;
  expect((await ask(`${url}/task/1`)).status).toBe(200);
});

test.each(['requestsMax', 'callerRequestsMax', 'accountRequestsMax'])(
  'a fifth of %s is set aside for those who start operations and look after them',
  async (limit) => {
    const { url, waited } = await startFront({ [limit]: 5 });
    for (let count = 1; count <= 4; count += 1) {
      void ask(`${url}/wait/busy`, 'one').catch(() => undefined);
      await expect.poll(() => waited.length).toBe(count);
    }
    const account = limit === 'accountRequestsMax' ? 'busy' : 'other';
    await expectOverload(await ask(`${url}/manifests/${account}`, 'one'), /^Too much at once: 4 requests /);
    expect((await ask(`${url}/tasks/1`, 'one')).status).toBe(200);
    const headers = { 'x-spinnaker-user': 'one' };
    expect((await fetch(`${url}/ops`, { method: 'POST', body: '[]', headers })).status).toBe(200);
  },
);

test('takes on so many requests of one caller and for one account at a time; others pass', async () => {
  const { url } = await startFront({ callerRequestsMax: 2, accountRequestsMax: 3 });
  void ask(`${url}/wait/busy`, 'one').catch(() => undefined);
  void ask(`${url}/wait/busy`, 'one').catch(() => undefined);
  await expect.poll(async () => (await ask(`${url}/task/1`, 'one')).status).toBe(503);
  await expectOverload(await ask(`${url}/task/1`, 'one'), /2 requests of this caller are under way/);
  void ask(`${url}/wait/busy`, 'two').catch(() => undefined);
  await expect.poll(async () => (await ask(`${url}/manifests/busy`)).status).toBe(503);
  await expectOverload(await ask(`${url}/manifests/busy`), /3 requests for this account are under way/);
  expect((await ask(`${url}/manifests/idle`, 'three')).status).toBe(200);
});

test('takes on so many requests a second of one caller and for one account; others pass', async () => {
  const slow = { callerRate: 0.001, callerBurst: 3, accountRate: 0.001, accountBurst: 2 };
  const { url } = await startFront(slow);
  for (const user of ['one', '__proto__', 'constructor']) {
    for (let index = 0; index < 3; index += 1) expect((await ask(`${url}/task/1`, user)).status).toBe(200);
    await expectOverload(await ask(`${url}/task/1`, user), /this caller sends more than 0.001 requests/);
  }
  expect((await ask(`${url}/manifests/busy`, 'two')).status).toBe(200);
  expect((await ask(`${url}/manifests/busy`, 'three')).status).toBe(200);
  await expectOverload(await ask(`${url}/manifests/busy`, 'four'), /requests a second come for this account/);
  expect((await ask(`${url}/manifests/idle`, 'four')).status).toBe(200);
});

test('takes on so many bytes of bodies, of all and of one caller; small bodies pass', async () => {
  const { url } = await startFront({
    bodyBytesMax: 250_000,
    callerBodyBytesMax: 120_000,
    freeBodyBytes: 10_000,
  });
  const post = async (bytes: number, user: string) =>
    fetch(`${url}/ops`, { method: 'POST', body: 'x'.repeat(bytes), headers: { 'x-spinnaker-user': user } });
  const first = hold(url, { bytes: 100_000, user: 'one' });
  await expect.poll(async () => (await post(100_000, 'one')).status).toBe(503);
  await expectOverload(await post(100_000, 'one'), /bodies of 120000 bytes of this caller are under way/);
  expect((await post(10_000, 'one')).status).toBe(200);
  expect((await post(100_000, 'two')).status).toBe(200);

  const second = hold(url, { bytes: 100_000, user: 'two' });
  await expect.poll(async () => (await post(100_000, 'three')).status).toBe(503);
  await expectOverload(await post(100_000, 'three'), /bodies of 250000 bytes are under way/);

  first.end();
  expect((await first.answered).status).toBe(200);
  second.destroy();
  await expect.poll(async () => (await post(120_000, 'one')).status).toBe(200);
});

test('gives a body up that stops coming, or comes too slowly', async () => {
  const { url } = await startFront({ bodyIdleMs: 50, bodyTimeoutMs: 600_000 });
  expect(await hold(url, { bytes: 10 }).answered).toMatchObject({
    status: 408,
    body: expect.stringContaining('The body did not arrive in time'),
  });
  const { url: other } = await startFront({ bodyTimeoutMs: 50, bodyIdleMs: 600_000 });
  expect(await hold(other, { bytes: 10 }).answered).toMatchObject({ status: 408 });
});

test('reads no more of a refused body than is good for its sender', async () => {
  const { url } = await startFront({ refusedBodyBytesMax: 1 << 20, refusedBodyMs: 600_000 });
  const call = sendRequest(`${url}/ops`, { method: 'POST', headers: { 'content-length': 1 << 30 } });
  const closed = new Promise<void>((resolve) => void call.on('error', () => resolve()).on('close', resolve));
  const chunk = Buffer.alloc(1 << 16, 'x');
  let sent = 0;
  const write = (): void => {
    let isFlowing = true;
    while (!call.destroyed && isFlowing) {
      isFlowing = call.write(chunk);
      sent += chunk.length;
    }
    if (!call.destroyed) call.once('drain', write);
  };
  write();
  await closed;
  // What the kernel's buffers hold is sent, too.
  expect(sent).toBeLessThan(100 << 20);
});

test('agents behind one address take turns by their sessions, and who proves none by the address', async () => {
  const asked: (string | undefined)[] = [];
  const front = await startFront({ writingFunctionRequestsMax: 1 }, async (authorization) => {
    asked.push(authorization);
    if (authorization === 'broken') throw new Error('no key');
    return authorization?.startsWith('agent') ? authorization : undefined;
  });
  const answers: Promise<Response>[] = [];
  const send = async (authorization: string): Promise<void> => {
    const count = asked.length;
    const headers = { authorization, 'x-spinnaker-user': authorization };
    answers.push(fetch(`${front.url}/agent/v1/wait`, { headers }));
    // Its turn is asked for then.
    await expect.poll(() => asked.length).toBe(count + 1);
  };
  for (const each of ['agent-1', 'agent-1', 'agent-1', 'stranger', 'broken', 'agent-2']) await send(each);
  front.release();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(6).fill(200));
  expect(front.waited).toEqual(['agent-1', 'stranger', 'agent-2', 'agent-1', 'broken', 'agent-1']);
});

test('those that wait for a task take no place of those that poll it', async () => {
  const front = await startFront({ taskFunctionRequestsMax: 1 });
  const waiting = [1, 2, 3].map((id) => ask(`${front.url}/ends/${id}?waitSeconds=20`));
  await expect.poll(() => front.waited.length).toBe(3);
  expect((await ask(`${front.url}/ends/1`)).status).toBe(200);
  front.release();
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200]);
});
