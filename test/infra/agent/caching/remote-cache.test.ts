import { afterAll, beforeAll, expect, test } from 'vitest';
import { CacheCalls } from '#infra/agent/caching/cache-calls.ts';
import { openRemoteCache } from '#infra/agent/caching/remote-cache.ts';
import type { HubCall } from '#infra/agent/hub/hub-client.ts';
import { openHub } from '#infra/agent/open-hub.ts';
import { systemClock } from '#platform/services/system.ts';
import { type GrpcHost, startGrpcHost } from '#test/infra/kubernetes/grpc/grpc-host.ts';
import { openRawAgent, type RawAgent } from '#test/support/agents/raw-agent.ts';
import { testRandomness } from '#test/support/run/test-clock.ts';

const path = '/agent/v1/caches/edge';
const batchSize = 500;

/** What one page has at most, and objects that fill it and some of another one, in the order of pages. */
const pageSize = 2_000;
const names = Array.from({ length: 2_400 }, (_, index) => `pod-${String(index).padStart(4, '0')}`);
/** Of these some in another namespace, and some that are gone. */
const away = new Set(names.slice(2_100, 2_200));
const gone = new Set(names.slice(2_200, 2_300));

const stack = new AsyncDisposableStack();
let home: GrpcHost;
let agent: RawAgent;
beforeAll(async () => {
  home = stack.use(await startGrpcHost());
  agent = await openRawAgent(home.host.url, home.signer, { agentId: 'heads', accounts: ['edge'] });
  const epoch = Math.floor(Date.now() / 60_000);
  const raised = await agent.call('PUT', `${path}/epoch`, { epoch, cluster: 'uid' });
  expect(raised.status).toBe(200);
  for (let from = 0; from < names.length; from += batchSize) {
    const changes = names.slice(from, from + batchSize).map(toChange);
    const written = await agent.call('POST', `${path}/changes`, { epoch, changes });
    expect([written.status, written.body['dropped']]).toEqual([200, []]);
  }
});
afterAll(() => stack.disposeAsync());

function toChange(name: string): object {
  const [namespace, version] = [away.has(name) ? 'yard' : 'shop', '123'];
  const facts = { v: 1, k: 'pod', s: namespace, n: name, u: `uid-${name}`, r: version, p: { c: ['web'] } };
  return {
    ...{ kind: 'pod', namespace, name, version },
    ...(!gone.has(name) && { facts: JSON.stringify(facts) }),
  };
}

interface Page {
  readonly heads: readonly { readonly name: string; readonly gone?: boolean }[];
  readonly next?: string;
}

async function readPage(query: string): Promise<Page> {
  const { status, body } = await agent.call('GET', `${path}/heads?kind=pod${query}`);
  expect(status).toBe(200);
  return body as unknown as Page;
}

test('what is cached of a kind comes 2,000 a page, each object once', async () => {
  const first = await readPage('&withGone=true');
  const second = await readPage(`&withGone=true&page=${first.next}`);
  expect([first.heads.length, second.heads.length, second.next]).toEqual([pageSize, 400, undefined]);
  const all = [...first.heads, ...second.heads];
  expect(all.map(({ name }) => name).sort()).toEqual(names);
  expect(new Set(all.filter((head) => head.gone).map(({ name }) => name))).toEqual(gone);

  const alive = await readPage('');
  const rest = await readPage(`&page=${alive.next}`);
  expect([alive.heads.length, rest.heads.length, rest.next]).toEqual([pageSize, 300, undefined]);
  const yard = await readPage('&namespace=yard&withGone=true');
  expect([yard.heads.length, yard.next]).toEqual([away.size, undefined]);
});

test.each([
  ['HTTP', 'poll'],
  ['gRPC', 'grpc'],
] as const)('an agent reads all pages over %s', async (_name, transport) => {
  const url = transport === 'grpc' ? `http://127.0.0.1:${home.port}` : home.host.url;
  const tls = {
    ...{ caFile: undefined, serverName: undefined, skipsVerification: false },
    ...{ certFile: undefined, keyFile: undefined, keyPassword: undefined },
  };
  await using hub = await openHub({ url, transport, tls, noProxy: true, environment: {} });
  const { token } = agent;
  const session = { call: (call: Omit<HubCall, 'token'>) => hub.call({ ...call, token }) };
  const cache = openRemoteCache(new CacheCalls({ session, clock: systemClock, randomness: testRandomness }));
  const pages = [];
  for await (const page of cache.listHeads('edge', 'pod', { withGone: true })) pages.push(page);
  expect(pages.map((page) => page.length)).toEqual([pageSize, 400]);
  const heads = pages.flat();
  expect(heads.map(({ key }) => key.name).sort()).toEqual(names);
  expect(new Set(heads.filter((head) => head.gone).map(({ key }) => key.name))).toEqual(gone);
  expect(new Set(heads.filter(({ key }) => key.location === 'yard').map(({ key }) => key.name))).toEqual(
    away,
  );
});
