import type { RequestListener } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { JsonValue } from '#core/json.ts';
import type { Runtime } from '#infra/local/runtime.ts';
import { plugins } from '#providers/index.ts';
import { cloud, plugin } from '#test/support/providers/example/index.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { type Clouddriver, startClouddriver } from '#test/support/services/clouddriver.ts';
import { startTestRuntime } from '#test/support/system/test-runtime.ts';

const running = new AsyncDisposableStack();
/** Has the accounts `ours` and `both`. */
let front: Runtime;
/** Another one behind it, with `both` and `theirs`. */
let upstream: Runtime;

beforeAll(async () => {
  plugins.push(plugin);
  running.defer(() => void plugins.pop());
  for (const account of ['ours', 'both', 'theirs']) {
    cloud.machines
      .set(`${account}-north`, new Set([`${account}-machine`]))
      .set(`${account}-south`, new Set());
  }
  upstream = running.use(await startTestRuntime(toSettings(['both', 'theirs'])));
  front = running.use(await startTestRuntime(toSettings(['ours', 'both'], { baseUrl: upstream.url })));
});

afterAll(() => running.disposeAsync());

function toSettings(accounts: readonly string[], section?: object): object {
  return {
    example: { accounts: accounts.map((name) => ({ name, regions: [`${name}-north`, `${name}-south`] })) },
    ...(section && { busdriver: { upstream: section } }),
  };
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

async function send({ url }: Pick<Runtime, 'url'>, target: string, init?: RequestInit): Promise<Answer> {
  const response = await fetch(new URL(target, url), init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? '' : JSON.parse(text) };
}

function post(
  runtime: Pick<Runtime, 'url'>,
  target: string,
  { body, headers }: { readonly body: JsonValue; readonly headers?: Record<string, string> },
): Promise<Answer> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
  return send(runtime, target, { ...init, body: JSON.stringify(body) });
}

const foreignOperations = { body: [{ createServerGroup: { credentials: 'ec2' } }] };

const createMachine = (account: string, machine: string) => ({
  createMachine: { account, region: `${account}-north`, machine },
});

describe('beside another Clouddriver', () => {
  it('what is of an account of ours is answered here, all else there', async () => {
    await expect
      .poll(() => send(front, '/instances/ours/ours-north/ours-machine'))
      .toMatchObject({ status: 200, body: { account: 'ours' } });
    await expect
      .poll(() => send(front, '/instances/theirs/theirs-north/theirs-machine'))
      .toMatchObject({ status: 200, body: { account: 'theirs' } });
    expect(await send(front, '/credentials/theirs')).toMatchObject({ body: { name: 'theirs' } });
    expect(await send(front, '/credentials/nobodys')).toMatchObject({
      status: 404,
      body: { message: "Account 'nobodys' not found; GET /credentials lists the accounts there are" },
    });
  });

  it('accounts of both are listed once', async () => {
    const { body, headers } = await send(front, '/credentials');
    expect((body as { name: string }[]).map(({ name }) => name)).toEqual(['both', 'ours', 'theirs']);
    expect(headers.get('x-busdriver-partial')).toBeNull();
  });

  it('operations run where their account is, and their tasks are found', async () => {
    const theirs = await post(front, '/example/ops', { body: [createMachine('theirs', 'm1')] });
    const ours = await post(front, '/example/ops', { body: [createMachine('both', 'm2')] });
    const [theirId, ourId] = [theirs, ours].map(({ body }) => (body as { id: string }).id);
    for (const id of [theirId, ourId]) {
      await expect
        .poll(() => send(front, `/task/${id}`))
        .toMatchObject({ body: { id, status: { completed: true, failed: false } } });
    }
    expect([
      ...(cloud.machines.get('theirs-north') ?? []),
      ...(cloud.machines.get('both-north') ?? []),
    ]).toEqual(expect.arrayContaining(['m1', 'm2']));
    expect(await send(upstream, `/task/${theirId}`)).toMatchObject({ status: 200 });
    expect(await send(upstream, `/task/${ourId}`)).toMatchObject({ status: 404 });
    expect(await send(front, '/task/unknown')).toMatchObject({ status: 404 });
    for (const id of [theirId, ourId]) {
      expect(await send(front, `/task/${id}:resume`, { method: 'POST' })).toMatchObject({
        status: 400,
        body: {
          errors: [`Task ${id} cannot be started again: its state is COMPLETED, not FAILED_RETRYABLE`],
        },
      });
    }
  });

  it('operations of both sides are refused, and none runs', async () => {
    const body = [createMachine('ours', 'm3'), createMachine('theirs', 'm3')];
    expect(await post(front, '/example/ops', { body })).toMatchObject({
      status: 400,
      body: {
        errors: [
          'One request holds operations of Busdriver (createMachine in account ours) and of the Clouddriver behind it ' +
            '(createMachine in account theirs): post them in two requests',
        ],
      },
    });
    expect([
      ...(cloud.machines.get('ours-north') ?? []),
      ...(cloud.machines.get('theirs-north') ?? []),
    ]).not.toContain('m3');
  });
});

describe('an account that both have', () => {
  const keeping = (baseUrl: string) => toSettings(['both'], { baseUrl, keep: ['bo*h'] });
  const taking = (baseUrl: string) => toSettings(['both'], { baseUrl });

  it('is left upstream with all that is read of it, and cached here meanwhile', async () => {
    await using keeper = await startTestRuntime(keeping(upstream.url));
    cloud.machines.get('both-south')?.add('late');
    const alone = { headers: { 'X-Busdriver-Upstream': 'none' } };
    await expect
      .poll(() => send(keeper, '/instances/both/both-south/late', alone))
      .toMatchObject({ status: 200 });
    await expect.poll(() => send(keeper, '/instances/both/both-south/late')).toMatchObject({ status: 200 });
    expect((await send(keeper, '/credentials')).body).toMatchObject([{ name: 'both' }, { name: 'theirs' }]);
    const { body } = await post(keeper, '/example/ops', { body: [createMachine('both', 'm4')] });
    const { id } = body as { readonly id: string };
    expect(await send(upstream, `/task/${id}`)).toMatchObject({ status: 200 });
  });

  it('changes hands when nothing of it runs on the other side any more', async () => {
    await using dir = await makeTempDir();
    await using old = await startClouddriver();
    old.answer = async ({ method = 'GET', url = '', headers }, response) => {
      const body = method === 'GET' ? null : (old.calls.at(-1)?.body ?? null);
      const { 'content-type': type = 'text/plain' } = headers;
      const init = { method, body, headers: { 'content-type': type } };
      const answer = await fetch(upstream.url + url, init);
      response.writeHead(answer.status).end(await answer.text());
    };
    const looks = () => old.calls.filter(({ path }) => path?.startsWith('/task/')).length;
    const { promise, resolve: release } = Promise.withResolvers<void>();
    const call = cloud.call.bind(cloud);
    onTestFinished(() => void Object.assign(cloud, { call }));
    cloud.call = async (method, region, machine) => {
      if (machine === 'held') await promise;
      return call(method, region, machine);
    };
    const made = () =>
      [...(cloud.machines.get('both-north') ?? [])].filter((name) => /held|next|last/.test(name));
    const make = async (runtime: Pick<Runtime, 'url'>, machine: string) => {
      const { body } = await post(runtime, '/example/ops', { body: [createMachine('both', machine)] });
      return (body as { readonly id: string }).id;
    };
    const waitFor = (runtime: Pick<Runtime, 'url'>, id: string) =>
      expect
        .poll(() => send(runtime, `/task/${id}`))
        .toMatchObject({ body: { status: { completed: true } } });
    const resume = (runtime: Pick<Runtime, 'url'>, id: string) =>
      send(runtime, `/task/${id}:resume`, { method: 'POST' });
    const refusal = (owner: string) => ({
      status: 400,
      body: { errors: [expect.stringContaining(`cannot be started again: its account belongs to ${owner}`)] },
    });

    await using keeper = await startTestRuntime(keeping(old.url), dir.path);
    const held = await make(keeper, 'held');
    await keeper[Symbol.asyncDispose]();
    await using taker = await startTestRuntime(taking(old.url), dir.path);
    const making = make(taker, 'next');
    await expect.poll(looks).toBeGreaterThan(1);
    expect(made()).toEqual([]);
    release();
    const next = await making;
    await waitFor(taker, next);
    expect(await send(upstream, `/task/${next}`)).toMatchObject({ status: 404 });
    expect(await resume(taker, held)).toMatchObject(refusal('Busdriver'));
    await taker[Symbol.asyncDispose]();

    await using again = await startTestRuntime(keeping(old.url), dir.path);
    await waitFor(upstream, await make(again, 'last'));
    expect(made()).toEqual(['held', 'next', 'last']);
    expect(await resume(again, next)).toMatchObject(refusal('the Clouddriver upstream'));
  });
});

describe('in front of what misbehaves', () => {
  let clouddriver: Clouddriver;
  let exposed: Runtime;

  beforeEach(async () => {
    clouddriver = running.use(await startClouddriver());
    const section = { baseUrl: `${clouddriver.url}/old/`, timeoutSeconds: 1, headers: { 'X-Door': 'open' } };
    exposed = running.use(await startTestRuntime(toSettings(['ours'], section)));
  });

  it('a request arrives as it came, with headers of Spinnaker and without credentials for us', async () => {
    const accounts = Array.from({ length: 1_500 }, (_, index) => `account-${index}`).join();
    const headers = {
      ...{ 'X-SPINNAKER-USER': 'ada', 'X-SPINNAKER-ACCOUNTS': accounts, 'X-SPINNAKER-EXECUTION-ID': 'e' },
      ...{ Authorization: 'Bearer planted', Cookie: 'a=planted', 'Proxy-Authorization': 'planted' },
    };
    const target = '/aws/ops?clientRequestId=a%2Fb%20c';
    const body = [{ createServerGroup: { credentials: 'ec2', name: 'ü' } }];
    await post(exposed, target, { body, headers });
    const [call] = clouddriver.calls;
    expect(call).toMatchObject({
      ...{ method: 'POST', path: '/old/aws/ops?clientRequestId=a%2Fb+c', body: JSON.stringify(body) },
      headers: {
        ...{ 'x-spinnaker-user': 'ada', 'x-spinnaker-accounts': accounts, 'x-spinnaker-execution-id': 'e' },
        ...{ 'content-type': 'application/json', 'x-door': 'open' },
      },
    });
    expect(JSON.stringify(call?.headers)).not.toContain('planted');
    await send(exposed, '/instances/ec2/eu%20west/i%2F1?x=1&x=2');
    await send(exposed, '/task/t1:resume', { method: 'POST' });
    await send(exposed, '/no/such%2Fpath/?y', { method: 'DELETE' });
    expect(clouddriver.calls.slice(1).map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /old/instances/ec2/eu%20west/i%2F1?x=1&x=2',
      'POST /old/task/t1:resume',
      'DELETE /old/no/such%2Fpath/?y=',
    ]);
  });

  it('a dry run never goes where it would be a real one', async () => {
    const { status, body } = await post(exposed, '/aws/ops?dryRun=true', foreignOperations);
    expect([status, (body as { errors: string[] }).errors]).toEqual([
      400,
      ['dryRun: expected operations of accounts of Busdriver; the Clouddriver behind it would run these'],
    ]);
    expect(clouddriver.calls).toEqual([]);
  });

  it('what is forwarded is in the audit', async () => {
    const records: unknown[] = [];
    exposed.engines.eventbridge.on('event', ({ 'detail-type': type, detail }) => {
      if (type === 'Audit') records.push(detail);
    });
    await post(exposed, '/aws/ops', { ...foreignOperations, headers: { 'X-SPINNAKER-USER': 'ada' } });
    await send(exposed, '/no/such/path', { method: 'DELETE' });
    await expect
      .poll(() => records)
      .toMatchObject([
        {
          ...{ action: 'startOperations', user: 'ada', account: 'ec2', operations: ['createServerGroup'] },
          ...{ outcome: 'allowed', forwarded: 'upstream' },
        },
        { action: 'DELETE /no/such/path', forwarded: 'upstream' },
      ]);
  });

  it('lists follow the rights of each caller, and their tags', async () => {
    clouddriver.answer = ({ headers }, response) =>
      void response
        .setHeader('etag', '"theirs"')
        .end(JSON.stringify([{ name: headers['x-spinnaker-user'] }]));
    const list = (user: string) =>
      send(exposed, '/credentials', { headers: { 'X-SPINNAKER-USER': user, 'If-None-Match': '*' } });
    for (const user of ['ada', 'bob', 'ada']) {
      const { body, headers } = await list(user);
      expect(body).toMatchObject([{ name: 'ours' }, { name: user }]);
      expect(headers.get('etag')).toBeNull();
    }
  });

  it('an answer passes as it comes', async () => {
    const { promise: seen, resolve: see } = Promise.withResolvers<void>();
    clouddriver.answer = async (_, response) => {
      response.setHeader('content-type', 'text/plain').write('first');
      await seen;
      response.end(' last');
    };
    const response = await fetch(new URL('/manifests/ec2/here/pod%20p', exposed.url));
    const pieces: string[] = [];
    for await (const piece of response.body ?? []) {
      pieces.push(new TextDecoder().decode(piece));
      see();
    }
    expect([response.headers.get('content-type'), pieces]).toEqual(['text/plain', ['first', ' last']]);
  });

  it.each<[string, RequestListener]>([
    ['is slow', () => {}],
    ['answers half', (_, response) => void response.write('[{', () => response.destroy())],
    ['fails', (_, response) => void response.writeHead(500).end('{}')],
    ['refuses us', (_, response) => void response.writeHead(401).end('{}')],
    ['answers no JSON', (_, response) => void response.end('<html>planted</html>')],
  ])('lists are ours alone and say so when it %s', async (_, answer) => {
    clouddriver.answer = answer;
    const { status, headers, body } = await send(exposed, '/credentials');
    expect([status, headers.get('x-busdriver-partial')]).toEqual([200, 'upstream']);
    expect(body).toMatchObject([{ name: 'ours' }]);
    const { body: health } = await send(exposed, '/health');
    expect(health).toMatchObject({ status: 'UP', details: { upstream: { status: 'DOWN' } } });
    expect(JSON.stringify(health)).not.toContain('planted');
    // Whether it exists only the other side could say.
    expect(await send(exposed, '/applications/unknown')).toMatchObject({ status: 503 });
    clouddriver.answer = (__, response) => void response.end('[{"name":"ec2"}]');
    expect(await send(exposed, '/credentials')).toMatchObject({ body: [{ name: 'ours' }, { name: 'ec2' }] });
    expect((await send(exposed, '/health')).body).toMatchObject({ details: { upstream: { status: 'UP' } } });
  });

  it('half an answer never looks like a whole one', async () => {
    clouddriver.answer = (_, response) => void response.write('half', () => response.destroy());
    const response = await fetch(new URL('/manifests/ec2/here/pod%20p', exposed.url));
    await expect(response.text()).rejects.toThrow();
  });

  it('a request that may have been done is not to be posted again', async () => {
    clouddriver.answer = ({ socket }) => void socket.resetAndDestroy();
    expect(await post(exposed, '/aws/ops', foreignOperations)).toMatchObject({
      status: 500,
      body: { message: expect.stringContaining('It may have been done: look before you repeat it') },
    });
    // By its id it is done once.
    expect(await post(exposed, '/aws/ops?clientRequestId=r', foreignOperations)).toMatchObject({
      status: 503,
    });
    expect(clouddriver.calls).toHaveLength(2);
    await clouddriver[Symbol.asyncDispose]();
    expect(await post(exposed, '/aws/ops', foreignOperations)).toMatchObject({ status: 503 });
  });

  it('a list can be refused, and an id of a request mean nothing', async () => {
    const section = { baseUrl: clouddriver.url, partial: 'refuse', deduplicates: false };
    await using strict = await startTestRuntime(toSettings(['ours'], section));
    clouddriver.answer = ({ socket }) => void socket.resetAndDestroy();
    expect(await send(strict, '/credentials')).toMatchObject({ status: 503 });
    // 503 says that it was not sent, which a busy machine may say.
    await expect
      .poll(() => post(strict, '/aws/ops?clientRequestId=r', foreignOperations))
      .toMatchObject({ status: 500 });
  });
});
