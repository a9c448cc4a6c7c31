import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operatorRoutes } from '#functions/operator-routes.ts';
import { createTokenSigner } from '#test/support/agents/agent-process.ts';
import { startWorld, type World } from '#test/support/agents/agent-world.ts';
import { callRaw, type RawAnswer } from '#test/support/agents/raw-agent.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { createCaller, paths, readStatus, toAgent } from '#test/support/services/dynamic-accounts.ts';
import { startFiat } from '#test/support/services/fiat.ts';

const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const { accounts, dynamic, served } = paths;
const agent = toAgent(await createTokenSigner());
const stack = new AsyncDisposableStack();
/** An account that no agent serves, where there is a cluster. */
const direct: object[] = [];
let world: World;
beforeAll(async () => {
  world = stack.use(await startWorld(['edge', ...direct]));
});
afterAll(() => stack.disposeAsync());

const get = (target: string): Promise<RawAnswer> => world.call('GET', target);

async function read(
  answer: RawAnswer | Promise<RawAnswer>,
): Promise<readonly { readonly [name: string]: unknown }[]> {
  const { status, body } = await answer;
  expect(status).toBe(200);
  return body as unknown as readonly { readonly [name: string]: unknown }[];
}

describeWithCluster('operators of agents', (cluster) => {
  direct.push({ name: 'direct', kubeconfigFile: cluster.kubeconfig });

  test('see who is connected and what was done, and can have an agent begin anew', async () => {
    await using namespace = await createNamespace('operators');
    expect(await read(get('/armory/agents'))).toEqual([]);
    await using process = await world.start('edge', cluster.kubeconfig);
    const [task, ofDirect] = [
      await world.deploy('edge', namespace.name, 'edge'),
      await world.deploy('direct', namespace.name, 'direct'),
    ];

    const [shown] = await read(get('/armory/agents'));
    expect(shown).toEqual({
      ...{ agentId: expect.any(String), clouddriverId: 'busdriver', clouddriverAlive: true },
      ...{ accounts: ['edge'], type: 'kubernetes', zone: '', protocol: 1, journalFormat: 1 },
      ...{ connected: true, outdated: false, lastWarnings: [] },
      ...{ lastConnection: iso, version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
    });
    const agentId = String(shown?.['agentId']);
    expect(await read(get(`/armory/agents/${agentId}`))).toMatchObject({ agentId, connected: true });

    // Of the direct account nothing is told here.
    const [record, ...others] = await read(get('/armory/agent/operations'));
    expect(others).toEqual([]);
    expectRecord(record, { id: task.id, agentId });
    expect(await read(get(`/armory/agent/operations/${task.id}`))).toEqual(record);
    expect((await get(`/armory/agent/operations/${ofDirect.id}`)).status).toBe(404);

    const order = { origin: 'test', clusterDriven: false, timestamp: 1 };
    const told = await world.call('POST', `/armory/agent/${agentId}/disconnect`, order);
    expect([told.status, told.body]).toEqual([202, { agentId, sessions: 1 }]);
    await process.untilLogged('"session with Busdriver"', 2);
    expect((await world.deploy('edge', namespace.name, 'again')).status.failed).toBe(false);
    const audit = (await world.system.readEvents()).filter((event) => event['detail-type'] === 'Audit');
    expect(audit.map(({ detail }) => detail)).toContainEqual(
      expect.objectContaining({
        ...{ action: 'changeAgent', outcome: 'allowed', status: 202, name: agentId, account: 'edge' },
      }),
    );
  });
});

/** @param record of a task that an agent has done */
function expectRecord(
  record: { readonly [name: string]: unknown } | undefined,
  { id, agentId }: { readonly id: string; readonly agentId: string },
): void {
  expect(record).toEqual({
    ...{ operationId: id, account: 'edge', operationType: 'deployManifest', finalOutcome: 'COMPLETED' },
    ...{ startTime: iso, endTime: iso, totalDurationMs: expect.any(Number) },
    opReceivedByClouddriver: { clouddriverId: 'busdriver', time: iso },
    opSentToAgent: { agentId, time: iso },
    resultReceivedFromAgent: {
      ...{ agentId, clouddriverId: 'busdriver', time: iso },
      result: { status: 'COMPLETED', durationMs: expect.any(Number) },
    },
  });
  const { startTime, endTime, totalDurationMs, opSentToAgent } = record ?? {};
  const { time } = opSentToAgent as { readonly time: string };
  const [start, sent, end] = [startTime, time, endTime].map((each) => Date.parse(String(each)));
  expect(totalDurationMs).toBe(Number(end) - Number(start));
  expect([start, sent, end]).toEqual(
    [start, sent, end].toSorted((one, other) => Number(one) - Number(other)),
  );
}

describe('routes of operators', () => {
  const names = ['a', 'a-b', 'a.b', 'b', 'c'];
  beforeAll(async () => {
    for (const agentId of names) await world.open(['edge'], { agentId });
    await (await world.open(['edge'], { agentId: 'b-closed' })).close();
  });

  test('page through agents and operations', async () => {
    const pages = [];
    for (let after: string | null = ''; after !== null; ) {
      const page: RawAnswer = await get(`/armory/agents?items=2&after=${after}`);
      pages.push((await read(page)).map(({ agentId }) => agentId));
      after = page.headers.get('X-Busdriver-Next');
    }
    expect(pages).toEqual([['a', 'a-b'], ['a.b', 'b'], ['c']]);

    const list = async (query: string) =>
      (await read(get(`/armory/agent/operations${query}`))).map(({ operationId }) => operationId);
    const ids = [...(await list(''))];
    for (const name of ['one', 'two', 'three']) ids.unshift(await world.post('edge', 'default', name));
    expect(await list('')).toEqual(ids);
    expect([await list('?items=2'), await list('?items=2&page=1'), await list('?page=1')]).toEqual([
      ids.slice(0, 2),
      ids.slice(2, 4),
      [],
    ]);
    // What nobody took has been sent to nobody.
    const [waiting] = await read(get('/armory/agent/operations?items=1'));
    expect(Object.keys(waiting ?? {}).sort()).toEqual(
      ['account', 'opReceivedByClouddriver', 'operationId', 'operationType', 'startTime'].sort(),
    );
  });

  test.each<[string, number, RegExp, string?, object?]>([
    ['/armory/agents?items=0', 400, /'items' must be a whole number from 1 to 500/],
    ['/armory/agents?items=many', 400, /'items'/],
    ['/armory/agents/no-such', 404, /No agent 'no-such' has a session/],
    ['/armory/agents/b-closed', 404, /No agent 'b-closed'/],
    ['/armory/agent/operations?items=201', 400, /'items' must be a whole number from 1 to 200/],
    ['/armory/agent/operations?page=-1', 400, /'page' must be a whole number from 0 to/],
    ['/armory/agent/operations?items=200&page=50', 400, /'page' must not lead beyond 10000 operations/],
    ['/armory/agent/operations/no-such', 404, /No operation of an agent is 'no-such'/],
    ['/armory/clouddrivers/other', 404, /No clouddriver is named 'other'/],
    ['/armory/clouddrivers/sql/pool/settings', 404, /There is no pool of SQL connections/],
    ['/armory/agent/no-such/disconnect', 404, /No agent 'no-such'/, 'POST', {}],
    ['/armory/agent/a/disconnect', 400, /must have a body in JSON/, 'POST'],
    ['/armory/agent/a/disconnect', 400, /expected/, 'POST', []],
    ['/armory/agent/a/disconnect', 400, /origin/, 'POST', { origin: 7 }],
    ['/armory/agent/a/disconnect', 400, /origin/, 'POST', { origin: 'x'.repeat(300) }],
    ['/armory/agent/a/disconnect', 400, /clusterDriven/, 'POST', { clusterDriven: 'perhaps' }],
    ['/armory/agent/a/disconnect', 400, /timestamp/, 'POST', { timestamp: {} }],
  ])(
    'tell what is wrong with a question: %s %i %s',
    async (target, status, ...[words, method = 'GET', body]) => {
      const answer = await world.call(method, target, body);
      expect(answer.status).toBe(status);
      const { message, errors = [] } = answer.body as { message: string; errors?: string[] };
      expect([message, ...errors].join(' ')).toMatch(words);
      // None of it disconnected anybody.
      expect(await read(get('/armory/agents?items=500'))).toHaveLength(names.length);
    },
  );

  test('end the session of an agent at once, whether it hears of that or not', async () => {
    const last = await world.open(['edge'], { agentId: 'last' });
    expect((await last.look()).status).toBe(200);
    expect((await world.call('POST', '/armory/agent/last/disconnect', {})).status).toBe(202);
    expect([(await last.look()).status, (await get('/armory/agents/last')).status]).toEqual([401, 404]);
  });

  test('show Busdriver as the one clouddriver', async () => {
    const self = { id: 'busdriver', baseUrl: world.system.url, ready: true, lastUpdated: iso };
    expect(await read(get('/armory/clouddrivers'))).toEqual([self]);
    expect((await get('/armory/clouddrivers/busdriver')).body).toEqual(self);
  });
});

describe('with Fiat', () => {
  const all = ['READ', 'WRITE'] as const;
  const mine = { accounts: { mine: all }, roles: ['m'], accountManager: true };
  const permissions = { READ: ['m'], WRITE: ['m'] };
  const theirs = { name: 'theirs', agent, permissions: { READ: ['t'], WRITE: ['t'] } };
  const managers = 'Access denied: only managers of accounts and administrators may do this';
  let url: string;
  beforeAll(async () => {
    const users = { ada: mine, root: { admin: true }, eve: { accounts: { mine: all } } };
    const fiat = stack.use(await startFiat({ users }));
    const settings = { services: { fiat: { enabled: true, baseUrl: fiat.url } } };
    const world = stack.use(await startWorld([], { settings, cache: { enabled: true } }));
    url = world.system.url;
  });

  test('operators are those who may manage accounts, and nobody else', async () => {
    const ask = (user: string | undefined): Promise<readonly number[]> => {
      const answers = operatorRoutes.map(async ({ method, path: template }) => {
        const target = template.replaceAll(/\{\w+\}/g, 'x');
        const body = method === 'GET' ? undefined : {};
        return (await callRaw(url, { method, target, body, user })).status;
      });
      return Promise.all(answers);
    };
    const refused = operatorRoutes.map(() => 403);
    expect(await ask('eve')).toEqual(refused);
    expect(await ask(undefined)).toEqual(refused);
    const answered = await ask('ada');
    expect(answered.filter((status) => ![200, 202, 400, 404].includes(status))).toEqual([]);
    expect(answered.filter((status) => status < 300)).toHaveLength(6);
  });

  test('accounts of agents are made by who may change them, and nothing of a list is done for others', async () => {
    const [ada, eve, root] = ['ada', 'eve', 'root'].map((user) => createCaller(url, user));
    expect(await eve?.('POST', dynamic, { name: 'mine', agent })).toEqual([403, managers]);
    expect(await ada?.('POST', dynamic, { name: 'mine', agent, permissions })).toEqual([202, []]);
    expect(await ada?.('POST', dynamic, [{ name: 'more', agent }, theirs])).toEqual([
      400,
      ['[1]: Cannot create account without granting permissions for current user (name: theirs)'],
    ]);
    expect(await readStatus(url, 'more', 'root')).toBe('No account found with name more');
    expect(await root?.('POST', dynamic, [theirs])).toEqual([202, []]);
  });

  const active = (name: string) => ({ name, state: 'ACTIVE' });

  test.each<[string, string, object?]>([
    ['PATCH', accounts, [active('mine'), active('theirs')]],
    ['DELETE', accounts, ['mine', 'theirs']],
    ['DELETE', `${accounts}/theirs`],
    ['PUT', dynamic, { name: 'theirs' }],
    ['GET', `${accounts}/theirs`],
    ['GET', `${served}/theirs`],
    ['GET', `${served}/theirs/namespaces`],
  ])('they are changed and shown to nobody else: %s %s', async (method, target, body) => {
    const denied = 'Access denied to account theirs - required authorization: WRITE';
    expect(await createCaller(url, 'ada')(method, target, body)).toEqual([403, denied]);
    expect(await createCaller(url, 'eve')(method, target, body)).toEqual([403, managers]);
  });

  test('they are activated by who may change them, who takes no others', async () => {
    const [ada, root] = [createCaller(url, 'ada'), createCaller(url, 'root')];
    expect(await readStatus(url, 'mine', 'ada')).toBe('INACTIVE');
    expect(await ada('PATCH', accounts, [active('mine')])).toEqual([202, {}]);
    expect(await readStatus(url, 'mine', 'ada')).toBe('ACTIVATING');
    // One that is reached from here is no one's to take but by who may change it.
    const reached = {
      ...{ type: 'kubernetes', name: 'direct', kubeconfigSecret: 'clusters/d' },
      permissions: theirs.permissions,
    };
    expect((await root('POST', '/credentials', reached))[0]).toBe(200);
    expect(await ada('POST', accounts, [{ name: 'direct', agent }])).toEqual([
      403,
      'Access denied to account direct - required authorization: WRITE',
    ]);
    const [, history] = await root('GET', '/credentials/direct/history');
    expect(history).toHaveLength(1);
  });
});
