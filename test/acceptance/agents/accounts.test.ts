import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTokenSigner } from '#test/support/agents/agent-process.ts';
import { startWorld, type World } from '#test/support/agents/agent-world.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import {
  type AccountCall,
  createCaller,
  findRefusal,
  paths,
  readEvents,
  readStatus,
  toAgent,
} from '#test/support/services/dynamic-accounts.ts';
import { listBadCalls } from './drills/bad-account-calls-data.ts';

const { accounts, dynamic, served } = paths;
const signer = await createTokenSigner();
const agent = toAgent(signer);

const stack = new AsyncDisposableStack();
let world: World;
let url: string;
beforeAll(async () => {
  const direct = { name: 'direct', kubeconfigFile: 'none', serviceAccount: false };
  world = stack.use(await startWorld([direct, 'settled', 'configured'], { signer }));
  url = world.system.url;
});
afterAll(() => stack.disposeAsync());

const call = (...what: AccountCall): Promise<readonly unknown[]> => createCaller(url)(...what);
const activate = (state: string, ...names: readonly string[]): Promise<readonly unknown[]> => {
  const list = names.map((name) => ({ name, state, zoneId: 'north' }));
  return call('PATCH', accounts, list);
};

async function make(...names: readonly string[]): Promise<void> {
  const list = names.map((name) => ({ name, agent }));
  expect(await call('POST', dynamic, list)).toEqual([202, []]);
  expect(await activate('ACTIVE', ...names)).toEqual([202, {}]);
}

/** What the audit tells: what was done, what became of it, of which account and of which other ones. */
async function listActs(): Promise<readonly unknown[]> {
  const events = await world.system.readEvents();
  const acts = events.filter((event) => event['detail-type'] === 'Audit');
  return acts.map(({ detail: { action, outcome, account, accounts: all } }) => [
    action,
    outcome,
    account,
    all,
  ]);
}

describe('accounts of agents by the routes of Armory', () => {
  test('are created inactive; those that are there are told', async () => {
    // As the plug-in's users know it: a list or one alone, without a type.
    expect(
      await call('POST', dynamic, [
        { name: 'edge', zoneId: 'north', agent },
        { name: 'far', type: 'kubernetes', namespaces: ['shop', 'web'], agent },
      ]),
    ).toEqual([202, []]);
    expect(await call('POST', dynamic, { name: 'alone', agent })).toEqual([202, []]);
    const config = { type: 'kubernetes', name: 'edge', agent };
    expect(await call('GET', `${accounts}/edge`)).toEqual([
      200,
      {
        ...{ name: 'edge', type: 'kubernetes', source: 'clouddriver', status: 'INACTIVE' },
        ...{ agents: [], config },
      },
    ]);
    // The store of all accounts has them.
    expect(await call('GET', '/credentials/edge/history')).toMatchObject([200, [{ account: config }]]);
    expect(await findRefusal(url, signer, 'edge')).toMatch(/revoked/);
    const again = [
      { name: 'EDGE', agent },
      { name: 'late', agent },
    ];
    expect(await call('POST', dynamic, again)).toEqual([409, [{ name: 'EDGE' }]]);
    expect(await readStatus(url, 'late')).toBe('INACTIVE');
    expect(await listActs()).toEqual(
      expect.arrayContaining([
        ['changeAccount', 'allowed', 'edge', ['edge', 'far']],
        ['changeAccount', 'allowed', 'alone', undefined],
      ]),
    );
  });

  test('are activated and used', async () => {
    const config = { type: 'kubernetes', name: 'used', agent };
    await make('used', 'used-too');
    expect(await readStatus(url, 'used')).toBe('ACTIVATING');
    const raw = await world.open(['used'], { agentId: 'one', zone: 'north' });
    expect(await call('GET', `${accounts}/used`)).toMatchObject([
      200,
      { status: 'ACTIVE', zoneId: 'north', agents: [{ agentId: 'one' }] },
    ]);
    expect(await call('GET', `${served}/used`)).toEqual([
      200,
      {
        ...{ name: 'used', status: 'ACTIVE', dynamic: true, connections: 1, zoneId: 'north' },
        ...{ lastUpdated: expect.any(Number), permissions: {}, definition: config },
      },
    ]);
    expect((await raw.take(await world.post('used', 'default', 'one'))).status).toBe(200);
    expect(await listActs()).toContainEqual(['changeAgent', 'allowed', 'used', ['used', 'used-too']]);
  });

  test('are replaced: whose proof they take stays, and so does that agents are let in', async () => {
    await make('replaced');
    await world.open(['replaced']);
    const body = { name: 'replaced', type: 'kubernetes', namespaces: ['shop', 'dev'] };
    const put = (ifMatch: string) =>
      fetch(new URL(dynamic, url), {
        method: 'PUT',
        body: JSON.stringify({ ...body, zoneId: 'north' }),
        headers: { 'content-type': 'application/json', 'if-match': ifMatch },
      });
    expect((await put('"7"')).status).toBe(412);
    const replaced = await put('"1"');
    const answered = [replaced.status, replaced.headers.get('etag'), await replaced.json()];
    expect(answered).toEqual([202, '"2"', []]);
    const shown = await fetch(new URL(`${accounts}/replaced`, url));
    expect(shown.headers.get('etag')).toBe('"2"');
    expect(await shown.json()).toMatchObject({ status: 'ACTIVE', config: { ...body, agent } });
    expect(await call('GET', `${served}/replaced/namespaces`)).toEqual([200, ['shop', 'dev']]);
    expect(await listActs()).toContainEqual(['changeAccount', 'failed', 'replaced', undefined]);
  });

  test('are shut out, and let in again', async () => {
    await make('shut', 'shut-too');
    const raw = await world.open(['shut']);
    expect((await raw.look()).status).toBe(200);
    expect(await activate('INACTIVE', 'shut', 'shut-too')).toEqual([202, {}]);
    expect([(await raw.look()).status, await readStatus(url, 'shut')]).toEqual([401, 'INACTIVE']);
    expect(await findRefusal(url, signer, 'shut')).toMatch(/revoked/);
    expect(await activate('ACTIVE', 'shut')).toEqual([202, {}]);
    // Nothing becomes of what is so already.
    expect(await activate('ACTIVE', 'shut')).toEqual([202, {}]);
    expect(await readEvents(url, 'shut')).toEqual(['enrolled', 'revoked', 'enrolled', 'revoked']);
  });

  test('are deleted, one or several', async () => {
    await make('gone', 'gone-too', 'gone-alone', 'stays');
    expect(await activate('INACTIVE', 'stays')).toEqual([202, {}]);
    expect(await call('DELETE', `${accounts}/gone-alone`)).toEqual([204, {}]);
    expect(await call('DELETE', accounts, ['gone', 'gone-too'])).toEqual([202, {}]);
    const names = ['gone-alone', 'gone', 'gone-too'];
    expect(await Promise.all(names.map((name) => readStatus(url, name)))).toEqual(
      names.map((name) => `No account found with name ${name}`),
    );
    expect(await readStatus(url, 'stays')).toBe('INACTIVE');
    expect(await listActs()).toContainEqual(['changeAccount', 'allowed', 'gone', ['gone', 'gone-too']]);
  });

  test('come from accounts of the store that were reached from here, and settings keep theirs', async () => {
    const [, { accounts: before }] = (await call('POST', '/armory/agent/operations/database')) as [
      number,
      { accounts: number },
    ];
    const kept = { namespaces: ['shop'], environment: 'test' };
    const stored = {
      ...{ type: 'kubernetes', name: 'moved', kubeconfigSecret: 'clusters/r', context: 'c' },
      ...kept,
    };
    expect((await call('POST', '/credentials', stored))[0]).toBe(200);
    expect(await call('POST', accounts, [{ name: 'moved', agent }, { name: 'settled' }])).toEqual([
      409,
      [{ name: 'settled' }],
    ]);
    const config = { type: 'kubernetes', name: 'moved', ...kept, agent };
    const [, shown] = await call('GET', `${accounts}/moved`);
    expect(shown).toEqual({
      ...{ name: 'moved', type: 'kubernetes', source: 'clouddriver', status: 'INACTIVE' },
      ...{ agents: [], config },
    });
    expect(await call('POST', accounts, [{ name: 'moved' }])).toEqual([409, [{ name: 'moved' }]]);
    expect(await call('PATCH', accounts, [{ name: 'moved', state: 'ACTIVE' }])).toEqual([202, {}]);
    expect(await findRefusal(url, signer, 'moved')).toBeUndefined();

    const settled = { name: 'settled', type: 'kubernetes', source: 'clouddriver', agents: [] };
    expect(await call('GET', `${accounts}/settled`)).toEqual([200, { ...settled, status: 'ACTIVATING' }]);
    expect(await call('PATCH', accounts, [{ name: 'settled', state: 'INACTIVE' }])).toEqual([202, {}]);
    expect(await call('GET', `${served}/settled`)).toEqual([
      200,
      {
        ...{ name: 'settled', status: 'INACTIVE', dynamic: false, connections: 0 },
        ...{ lastUpdated: expect.any(Number), permissions: {} },
      },
    ]);
    expect(await call('POST', '/armory/agent/operations/database')).toEqual([202, { accounts: before + 1 }]);
  });

  test('are, without Fiat, changed and shown to who may use them by what Gate says', async () => {
    const permissions = { READ: ['shop'], WRITE: ['shop'] };
    await call('POST', dynamic, [
      { name: 'closed', agent, permissions },
      { name: 'open', agent },
    ]);
    const denied = 'Access denied to account closed - required authorization: WRITE';
    const activation = ['open', 'closed'].map((name) => ({ name, state: 'ACTIVE' }));
    expect(await call('PATCH', accounts, activation)).toEqual([403, denied]);
    expect(await call('GET', `${served}/closed`)).toEqual([403, denied]);
    expect(await readStatus(url, 'open')).toBe('INACTIVE');
    const headers = { 'content-type': 'application/json', 'X-SPINNAKER-ACCOUNTS': 'closed' };
    const patch = { method: 'PATCH', body: JSON.stringify(activation), headers };
    expect((await fetch(new URL(accounts, url), patch)).status).toBe(202);
    const shown = await fetch(new URL(`${served}/closed`, url), { headers });
    expect(await shown.json()).toMatchObject({ status: 'ACTIVATING', permissions });
  });
});

describe('a call of no use', () => {
  let before: readonly unknown[];
  beforeAll(async () => {
    const stored = { type: 'kubernetes', name: 'reached', kubeconfigSecret: 'clusters/reached' };
    expect((await call('POST', '/credentials', stored))[0]).toBe(200);
    expect(await call('POST', dynamic, { name: 'idle', agent })).toEqual([202, []]);
    before = await call('GET', '/credentials');
  });

  test.each([...listBadCalls(agent)])(
    'names what is wrong: %s %s, %s',
    async (method, target, ...[_what, status, words, body]) => {
      const [answered, content] = await call(method, target, body);
      expect([answered, String(content)]).toEqual([status, expect.stringContaining(words)]);
    },
  );

  test('leaves accounts as they were', async () => {
    expect(await call('GET', '/credentials')).toEqual(before);
    expect(await readStatus(url, 'idle')).toBe('INACTIVE');
    expect(await readStatus(url, 'configured')).toBe('ACTIVATING');
  });
});

test('accounts of agents are not served where accounts are not stored', async () => {
  const settings = { account: { storage: { enabled: false } } };
  await using bare = await startWorld(['settled'], { signer, settings, cache: { enabled: true } });
  const ask = createCaller(bare.system.url);
  const words =
    'Cannot use AccountDefinitionService endpoints without enabling AccountDefinitionService bean';
  expect(await ask('POST', dynamic, { name: 'edge', agent })).toEqual([400, words]);
  expect(await ask('DELETE', `${accounts}/settled`)).toEqual([400, words]);
  expect(await ask('PATCH', accounts, [{ name: 'settled', state: 'INACTIVE' }])).toEqual([202, {}]);
  expect(await readStatus(bare.system.url, 'settled')).toBe('INACTIVE');
});

describeWithCluster('an agent of an account that was made so', (cluster) => {
  test('runs operations of it from the moment in which it is activated', async () => {
    await using namespace = await createNamespace('dynamic');
    expect(await call('POST', dynamic, { name: 'made', agent })).toEqual([202, []]);
    await using process = await world.start('made', cluster.kubeconfig);
    await process.untilLogged('are revoked');
    expect(await call('PATCH', accounts, [{ name: 'made', state: 'ACTIVE' }])).toEqual([202, {}]);
    expect((await world.deploy('made', namespace.name, 'made')).status.failed).toBe(false);
    const [, shown] = await call('GET', `${served}/made`);
    expect(shown).toMatchObject({
      ...{ status: 'ACTIVE', connections: 1, kubeHost: expect.stringMatching(/^https:/) },
      kubeVersion: expect.stringMatching(/^v\d/),
      certFingerprint: expect.stringMatching(/^[0-9A-F:]+$/i),
    });
  });
});
