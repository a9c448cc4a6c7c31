import { gunzipSync } from 'node:zlib';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Account } from '#accounts/model/account.ts';
import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import type { CachingAgentMessage, CachingAgentQueue } from '#caching/scheduling/caching-agent-queue.ts';
import type { CachingAgentKey, CachingAgentStore } from '#caching/scheduling/caching-agent-store.ts';
import type { CacheStore } from '#caching/store/cache-store.ts';
import { NotFoundError } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import { RememberedBytes } from '#core/remembered-bytes.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { readConfig, variables } from '#platform/config.ts';
import { Services } from '#platform/services/services.ts';
import type { Provider } from '#provider-kit/provider.ts';
import { ProviderSet } from '#provider-kit/provider-set.ts';
import { type AgentBench, leaseMs, openAgents, success } from '#test/contracts/agent-bench.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { testRandomness } from '#test/support/run/test-clock.ts';
import type { ViewHandlerOptions, ViewRead } from '#views/http/view-handler.ts';
import { viewHandler } from '#views/http/view-handler.ts';
import type { ReadServices } from '#views/services/views.ts';
import type { CachedReads } from '#views/views.ts';

const openTable = useLocalTables();
const accounts = ['prod', 'dev', 'new'].map((name) => ({ name }) as Account);
const warnings: string[] = [];
const log: Logger = { debug() {}, info() {}, warn: (message) => void warnings.push(message), error() {} };
const config = readConfig(
  Object.fromEntries(
    [
      variables.tasksTable,
      variables.cacheTable,
      variables.operationsQueueUrl,
      variables.agentsQueueUrl,
      variables.busName,
    ].map((name) => [name, 'any']),
  ),
);

let bench: AgentBench;
let cache: CacheStore;
let messages: CachingAgentMessage[];
/** What happens when a message is sent for agents. */
let work: (keys: readonly CachingAgentKey[]) => Promise<void>;

beforeAll(async () => {
  const engine = openTable(cacheTable);
  bench = openAgents(engine);
  const { clock, documents } = bench;
  cache = createCacheStore({ documents, tableName: engine.tableName, clock, randomness: testRandomness });
  await bench.store.sync(
    accounts.map(({ name }) => ({ account: name, name: 'core', provider: 'kubernetes', intervalMs: 30_000 })),
  );
  await cache.recordApplication('shop', 'prod', { clusters: ['deployment web'], locations: ['web'] });
  await cache.recordApplication('shop', 'gone', { clusters: ['deployment web'], locations: ['web'] });
});

beforeEach(async () => {
  messages = [];
  warnings.splice(0);
  work = async () => {};
  await run('prod', 3);
  await run('dev', 41);
});

/** Runs the agent of an account, which then has what was so some seconds ago. */
async function run(account: string, secondsAgo: number): Promise<void> {
  const { store, clock } = bench;
  const key = { account, name: 'core' };
  const answer = await store.claim(key, { owner: 'worker@test', turn: 0, leaseMs, demanded: true });
  if (answer === undefined) throw new Error('the agent could not be claimed');
  const asOfMs = clock.now() - secondsAgo * 1000;
  await store.finish(answer.lease, success(clock.now() + 30_000, { asOfMs }));
}

const agentQueue: CachingAgentQueue = {
  async send(sent) {
    for (const message of sent) {
      messages.push(message);
      void work(message.agents);
    }
  },
};

/** A provider that shows the names of the accounts in which an application is. */
const openViews = async (from: CacheStore): Promise<CachedReads> => ({
  async listServerGroupManagers(application) {
    const entries = await from.listAccounts(application);
    return { value: entries.map(({ account }) => ({ account })), accounts: ['prod'] };
  },
});

function openSet(of: readonly Account[]): ProviderSet {
  const clouds = [{ name: 'kubernetes', accounts: of, openViews }];
  return new ProviderSet([{ name: 'kubernetes', rejectedAccounts: [], clouds } as unknown as Provider]);
}

function openContext(changes: Partial<ReadServices> = {}): ReadServices {
  const { clock, store } = bench;
  return {
    all: new Services({}),
    ...{ config, clock, log, cache, agentQueue, agents: store, randomness: testRandomness, host: 'test' },
    remembered: new RememberedBytes(),
    hints: { send: async () => undefined },
    ...{ settings: {}, storedAccounts: [], providers: openSet(accounts) },
    ...changes,
  };
}

interface Given {
  readonly path?: { readonly [name: string]: string };
  readonly headers?: { readonly [name: string]: string };
  readonly context?: Partial<ReadServices>;
  readonly scope?: ViewHandlerOptions['scope'];
}

async function call(read: ViewRead, given: Given = {}): Promise<APIGatewayProxyResult> {
  const { path = { application: 'shop' }, headers = {}, context, scope } = given;
  const open = async (): Promise<ReadServices> => openContext(context);
  const handler = viewHandler(read, scope ? { open, scope } : { open }) as (
    event: APIGatewayProxyEvent,
    lambda: Context,
  ) => Promise<APIGatewayProxyResult>;
  const route = { httpMethod: 'GET', resource: '/securityGroups' };
  const event = { ...route, headers, pathParameters: path, queryStringParameters: null, body: null };
  const lambda = { functionName: 'f', awsRequestId: 'r', getRemainingTimeInMillis: () => 20_000 };
  return handler(event as unknown as APIGatewayProxyEvent, lambda as unknown as Context);
}

const listManagers: ViewRead = (request, { views }) =>
  views.listServerGroupManagers(request.getParameter('application'));

const show = (...names: string[]): ViewRead => {
  return async () => ({ value: names, accounts: names });
};

describe('an answer out of the cache', () => {
  it('tells how old it is, by the accounts that it depends on', async () => {
    const { statusCode, headers, body } = await call(show('prod', 'dev'), { path: {} });
    expect([statusCode, body]).toEqual([200, '["prod","dev"]']);
    expect(headers).toMatchObject({
      'Content-Type': 'application/json;charset=UTF-8',
      Age: expect.stringMatching(/^4[1-9]$/),
      'X-Busdriver-Lag': expect.stringMatching(/^dev=4[1-9], prod=[3-9]$/),
    });
    const asOfMs = Date.parse(String(headers?.['X-Busdriver-As-Of']));
    expect(bench.clock.now() - asOfMs).toBeGreaterThanOrEqual(41_000);
  });

  it('is read from the views of the accounts there are', async () => {
    const { headers, body } = await call(listManagers);
    expect(JSON.parse(body)).toContainEqual({ account: 'prod' });
    expect(headers?.['X-Busdriver-Lag']).toMatch(/^prod=[3-9]$/);
  });

  it('tells the age of what is not there, too', async () => {
    const missing: ViewRead = async () => {
      throw new NotFoundError('No such application');
    };
    const { statusCode, headers, body } = await call(missing);

    expect(JSON.parse(body)).toMatchObject({
      status: 404,
      error: 'Not Found',
      message: 'No such application',
    });
    expect(statusCode).toBe(404);
    expect(headers?.['X-Busdriver-Lag']).toBe(`prod=${headers?.['Age']}`);
    const { headers: unknown } = await call(missing, { path: { account: 'nobody', application: 'shop' } });
    expect(Object.keys(unknown ?? {})).not.toContain('X-Busdriver-Lag');
  });

  it('marks accounts that were not cached yet, and tells nothing of their age', async () => {
    const { headers } = await call(show('new'), { path: { account: 'new' } });
    expect(headers?.['X-Busdriver-Lag']).toBe('new=unknown');
    expect(headers).not.toHaveProperty('Age');
  });

  it('does not fail for want of its age', async () => {
    const agents = Object.create(bench.store) as CachingAgentStore;
    agents.readFreshness = async () => {
      throw new Error('away');
    };
    const { statusCode, headers } = await call(show('prod'), { path: {}, context: { agents } });
    expect([statusCode, headers?.['X-Busdriver-Lag']]).toEqual([200, undefined]);
    expect(warnings).toEqual(['the age of an answer cannot be told']);
  });

  it('fails where it cannot be read', async () => {
    const broken = { ...cache, listAccounts: () => Promise.reject(new Error('broken')) };
    const { statusCode } = await call(listManagers, { context: { cache: broken } });
    expect(statusCode).toBe(500);
  });
});

describe('equal reads of one application', () => {
  it('share the next answer, and none is given one that was begun before it asked', async () => {
    const ends: (() => void)[] = [];
    const text = 'x'.repeat(300_000);
    const read: ViewRead = async () => {
      const number = ends.length;
      await new Promise<void>((resolve) => ends.push(resolve));
      return { value: [number, text], accounts: ['prod'] };
    };
    const headers = { 'Accept-Encoding': 'gzip', Accept: '*/*' };
    const given = { headers, context: { all: new Services({}) } };
    const first = call(read, given);
    await expect.poll(() => ends.length).toBe(1);
    // What a caller has had written since the first began, he must find.
    const others = [1, 2, 3].map(() => call(read, given));
    const other = call(read, { ...given, path: { application: 'store' } });
    await expect.poll(() => ends.length).toBe(2);
    ends[1]?.();
    ends[0]?.();
    await expect.poll(() => ends.length).toBe(3);
    ends[2]?.();
    const numbers = (await Promise.all([first, other, ...others])).map(({ body }) => {
      const [number] = JSON.parse(gunzipSync(Buffer.from(body, 'base64')).toString()) as [number];
      return number;
    });
    expect(numbers).toEqual([0, 1, 2, 2, 2]);
  });

  it('are made apart for callers who may not read the same accounts', async () => {
    const guarded = accounts.map((account) => ({ ...account, permissions: { READ: ['team'] } }));
    const providers = openSet(guarded);
    const context = { all: new Services({}), providers };
    const read: ViewRead = async (_request, { mayRead }) => ({
      value: ['prod', 'dev'].filter(mayRead),
      accounts: [],
    });
    const ask = (names: string) => call(read, { context, headers: { 'X-SPINNAKER-ACCOUNTS': names } });
    const answers = await Promise.all([ask('prod'), ask(''), ask('prod'), ask('dev,prod')]);
    expect(answers.map(({ body }) => JSON.parse(body))).toEqual([['prod'], [], ['prod'], ['prod']]);
  });
});

describe('an answer that the caller has', () => {
  const getTag = async (read: ViewRead, headers = {}): Promise<string> =>
    String((await call(read, { headers })).headers?.['ETag']);
  const ask = (read: ViewRead, tags: string) => call(read, { headers: { 'If-None-Match': tags } });

  it('is named by a weak tag, which changes when it does, and not with its age', async () => {
    const tag = await getTag(show('prod'));
    expect(tag).toMatch(/^W\/"[\w-]{43}"$/);
    bench.clock.advance(2_000);
    expect(await getTag(show('prod'))).toBe(tag);
    expect(await getTag(show('prod', 'dev'))).not.toBe(tag);
    expect((await call(show('prod'))).headers).toMatchObject({
      'Cache-Control': 'no-cache',
      Vary: 'Accept-Encoding',
    });
  });

  it('is left out: 304 has the tag and tells the age, as 200 would', async () => {
    const whole = await call(show('prod'));
    const { statusCode, headers, body } = await ask(show('prod'), String(whole.headers?.['ETag']));

    expect([statusCode, body]).toEqual([304, '']);
    const { 'Content-Type': _type, ...others } = whole.headers ?? {};
    const anyAge = { Age: expect.stringMatching(/^[3-9]$/), 'X-Busdriver-Lag': expect.any(String) };
    expect(headers).toEqual({ ...others, ...anyAge });
  });

  it('is the same gzipped', async () => {
    const read = show(...Array.from({ length: 1_000 }, (_, index) => `account-${index}`));
    const packed = { 'Accept-Encoding': 'gzip', Accept: '*/*' };
    const whole = await call(read, { headers: packed });
    expect(whole.headers).toMatchObject({ 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' });
    const tag = String(whole.headers?.['ETag']);
    expect(tag).toBe(await getTag(read));
    const kept = await call(read, { headers: { ...packed, 'If-None-Match': tag } });
    expect([kept.statusCode, kept.body, kept.headers?.['Content-Encoding']]).toEqual([304, '', undefined]);
  });

  it.each([
    ['among others', (tag: string) => `"one", ${tag},W/"other"`],
    ['as a strong one', (tag: string) => tag.slice(2)],
    ['as any at all', () => ' * '],
  ])('may be named %s', async (_how, toTags) => {
    expect((await ask(show('prod'), toTags(await getTag(show('prod'))))).statusCode).toBe(304);
  });

  it.each([
    ['another tag', () => '"other"'],
    ['what is no tag', (tag: string) => tag.replaceAll('"', '')],
    ['nothing', () => ''],
    ['a part of it', (tag: string) => `${tag.slice(0, -2)}"`],
    ['it behind more than is read', (tag: string) => `${'"other",'.repeat(1_000)}${tag}`],
  ])('comes whole for who names %s', async (_what, toTags) => {
    const { statusCode, body } = await ask(show('prod'), toTags(await getTag(show('prod'))));
    expect([statusCode, body]).toEqual([200, '["prod"]']);
  });

  it('is no 404: that comes whole, without a tag', async () => {
    const missing: ViewRead = async () => {
      throw new NotFoundError('No such application');
    };
    const { statusCode, headers, body } = await ask(missing, '*');
    expect([statusCode, headers?.['ETag'], JSON.parse(body)]).toMatchObject([
      404,
      undefined,
      { status: 404 },
    ]);
  });
});

describe('a request that demands fresh data', () => {
  const demand = (seconds: number) => ({ headers: { 'Cache-Control': `max-age=${seconds}` } });

  it('has refreshed what is older, and only that', async () => {
    const read: string[] = [];
    const note: ViewRead = async (request, context) => {
      read.push(String((await context.agents.readFreshness(['dev'])).get('dev')?.asOfMs));
      return show('dev', 'prod')(request, context);
    };
    work = (keys) => run(String(keys[0]?.account), 0);
    const before = (await bench.store.readFreshness(['dev'])).get('dev')?.asOfMs;
    const { headers } = await call(note, {
      ...demand(20),
      path: {},
      scope: () => ({ accounts: ['prod', 'dev'] }),
    });

    expect(messages.map(({ agents, isDemanded }) => [agents, isDemanded])).toEqual([
      [[{ account: 'dev', name: 'core' }], true],
    ]);
    expect(Number(read[0])).toBeGreaterThan(Number(before));
    expect(headers?.['X-Busdriver-Lag']).toMatch(/^prod=[3-9], dev=[0-2]$/);
  });

  it('is answered at once where everything is fresh enough', async () => {
    await call(show('prod'), demand(30));
    expect(messages).toEqual([]);
  });

  it('is answered with what there is when that takes too long', async () => {
    const answer = call(show('dev'), { ...demand(0), path: { account: 'dev' } });
    work = async () => bench.clock.advance(13_000);
    const { statusCode, headers } = await answer;
    expect(statusCode).toBe(200);
    expect(headers?.['X-Busdriver-Lag']).toMatch(/^dev=5[4-9]$/);
  });

  it('reads what was just written', async () => {
    const consistent: (boolean | undefined)[] = [];
    const watched: CacheStore = {
      ...cache,
      getRow: (key, how) => {
        consistent.push(how?.consistent);
        return cache.getRow(key, how);
      },
    };
    const read: ViewRead = async (_request, context) => {
      await context.cache.getRow({ application: 'shop', account: 'prod', view: 'managers', row: 'x' });
      return { value: [], accounts: [] };
    };
    await call(read, { context: { cache: watched } });
    await call(read, { ...demand(60), context: { cache: watched } });

    expect(consistent).toEqual([undefined, true]);
  });

  it('refreshes every account for an application that is nowhere', async () => {
    work = async (keys) => {
      // What an agent found is cached before it says that it ran.
      await cache.recordApplication('late', 'dev', { clusters: [], locations: ['web'] });
      for (const { account } of keys) await run(account, 0);
    };
    const { body } = await call(listManagers, { ...demand(0), path: { application: 'late' } });

    expect(new Set(messages.flatMap(({ agents }) => agents.map(({ account }) => account)))).toEqual(
      new Set(['prod', 'dev', 'new']),
    );
    expect(JSON.parse(body)).toEqual([{ account: 'dev' }]);
  });
});

describe('the use of accounts', () => {
  const getUsed = async (account: string): Promise<number | undefined> =>
    (await bench.store.list()).find((agent) => agent.account === account)?.usedAtMs;

  it('is noted where an account or an application is read, and not where everything is', async () => {
    bench.clock.advance(600_000);
    const before = await Promise.all(['prod', 'dev'].map(getUsed));
    await call(show('prod', 'dev'), { path: {} });
    expect(await Promise.all(['prod', 'dev'].map(getUsed))).toEqual(before);

    await call(show('prod'));
    expect(await getUsed('prod')).toBeGreaterThan(Number(before[0]));
    expect(await getUsed('dev')).toBe(before[1]);

    await call(show(), { path: { account: 'dev', application: 'shop' } });
    expect(await getUsed('dev')).toBeGreaterThan(Number(before[1]));
  });
});
