import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commitsMax } from '#agents/protocol/messages.ts';
import { getHeaderKey } from '#tasks/aws/task-items.ts';
import { createTokenSigner, type TokenSigner, toAgentAccount } from '#test/support/agents/agent-process.ts';
import { startWorld, type World } from '#test/support/agents/agent-world.ts';
import {
  callRaw,
  openRawAgent,
  type RawAgent,
  type RawAnswer,
  type RawHello,
} from '#test/support/agents/raw-agent.ts';
import { changeStored } from '#test/support/agents/stored-change.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';

const stack = new AsyncDisposableStack();
let world: World;
let other: TokenSigner;

beforeAll(async () => {
  const signer = await createTokenSigner();
  other = await createTokenSigner('system:serviceaccount:other:agent');
  const cached = { ...toAgentAccount('cached', signer), namespaces: ['shop'] };
  const accounts = [
    'aged',
    'formatted',
    'seven',
    cached,
    toAgentAccount('eight', other),
    toAgentAccount('foreign', other),
  ];
  const agents = { minimumVersion: '2.0.0' };
  world = stack.use(await startWorld(accounts, { signer, agents, cache: { enabled: true } }));
});
afterAll(() => stack.disposeAsync());

const version = '2.0.0';
const open = (name: string, hello: Partial<RawHello> = {}): Promise<RawAgent> =>
  world.open([name], { version, ...hello });
const openStranger = (name: string): Promise<RawAgent> =>
  openRawAgent(world.system.url, other, { agentId: 'stranger', version, accounts: [name] });

describe('tasks', () => {
  test('are for agents that are new enough, and refusals of leases say why', async () => {
    const old = await open('aged', { agentId: 'old', version: '1.9.9' });
    const young = await open('aged', { agentId: 'young' });
    const next = await open('aged', { agentId: 'next', version: '10.0' });
    const id = await world.post('aged', 'default', 'x');

    expect(old.welcome['accounts']).toMatchObject([{ name: 'aged', operations: false }]);
    expect(young.welcome['accounts']).toMatchObject([{ name: 'aged', operations: true }]);
    expect([await old.listWork(), await young.listWork()]).toEqual([
      [],
      [{ kind: 'TASK', account: 'aged', id }],
    ]);
    const refused = await old.take(id);
    expect([refused.status, refused.body['message']]).toEqual([
      403,
      'Version 1.9.9 of the agent is older than busdriver.agents.minimumVersion: install 2.0.0 or newer',
    ]);
    const { body } = await world.call('GET', '/armory/agents');
    const shown = body as unknown as readonly { agentId: string; outdated: boolean; accounts: string[] }[];
    const own = shown.filter(({ accounts }) => accounts.includes('aged'));
    expect(own.map(({ agentId, outdated }) => [agentId, outdated])).toEqual([
      ['next', false],
      ['old', true],
      ['young', false],
    ]);

    const lease = (await young.take(id)).body['lease'] as object;
    expect(await next.listWork()).toEqual([]);
    expect((await next.take(id)).body).toMatchObject({ status: 409, reason: 'held' });
    const stale = { lease: { ...lease, fence: 0 }, next: 'hold', entries: [] };
    expect((await next.commit(id, stale)).body).toMatchObject({ status: 409, reason: 'held' });
    // It may have no more entries, and ends all the same.
    const { stores } = world.system;
    const header = { tableName: stores.tasksTable, key: getHeaderKey(id) };
    const full = Array.from({ length: commitsMax }, (_, index) => `{"key":"0/${index}","lines":[]}`);
    await changeStored(stores, [{ ...header, attribute: 'journal', value: full }]);
    expect((await young.commit(id, { lease, next: 'hold', entries: [] })).status).toBe(413);
    expect((await young.commit(id, { lease, next: 'COMPLETED', entries: [] })).status).toBe(200);
    expect((await next.take(id)).body).toMatchObject({ status: 409, reason: 'finished' });
    const renewed = await young.call('PUT', `/agent/v1/tasks/${id}/lease`, lease);
    expect(renewed.body).toMatchObject({ status: 409, reason: 'finished' });
  });

  test('that were begun with another journal format are for agents that have it, and for no others', async () => {
    const own = await open('formatted', { agentId: 'own' });
    const later = await open('formatted', { agentId: 'later', journalFormat: 2 });
    const id = await world.post('formatted', 'default', 'x');
    // As a release with that format leaves it.
    const { stores } = world.system;
    const header = { tableName: stores.tasksTable, key: getHeaderKey(id) };
    await changeStored(stores, [{ ...header, attribute: 'journalFormat', value: 2 }]);

    expect([await own.listWork(), await later.listWork()]).toEqual([
      [],
      [{ kind: 'TASK', account: 'formatted', id }],
    ]);
    expect((await own.take(id)).body).toMatchObject({
      status: 409,
      reason: 'journal-format',
      message:
        'The journal of the task has another format than the agent has: it is 2, the agent has 1: ' +
        'install an agent whose journal format is 2',
    });
    const { lease } = (await later.take(id)).body;
    expect((await later.commit(id, { lease, next: 'COMPLETED', entries: [] })).status).toBe(200);
  });

  test('of several accounts tell agents nothing of operations of others, who can write nothing of them', async () => {
    const [seven, eight] = [await open('seven'), await openStranger('eight')];
    const id = await world.system.postOperations(
      ['seven', 'eight', 'seven'].map((account, index) => toDeploy(account, 'default', [`object-${index}`])),
    );
    const mine = (account: string) => [{ kind: 'TASK', account, id }];
    const commit = (agent: RawAgent, end: { lease: unknown; next: string }, entries: object[] = []) =>
      agent.commit(id, { ...end, entries: entries.map((entry) => JSON.stringify(entry)) });

    expect([await seven.listWork(), await eight.listWork()]).toEqual([mine('seven'), []]);
    expect((await eight.take(id)).status).toBe(403);
    const first = await seven.take(id);
    expect(first.body).toMatchObject({ account: 'seven', handsOver: true });
    expect(JSON.stringify(first.body)).toContain('object-0');
    expect(JSON.stringify(first.body)).not.toMatch(/object-[12]|eight/);
    const { lease } = first.body;
    expect(toErrors(await commit(seven, { lease, next: 'COMPLETED' }))).toEqual([
      400,
      ['next: expected handover, for operations of other accounts follow'],
    ]);
    expect(toErrors(await commit(seven, { lease, next: 'hold' }, [{ key: '0/op/1', lines: [] }]))).toEqual([
      400,
      ['entries[0]: expected a key of operations 0 to 0'],
    ]);
    expect((await commit(seven, { lease, next: 'handover' }, failed)).status).toBe(200);
    // Its answer was lost, and it says so again.
    expect((await commit(seven, { lease, next: 'handover' }, failed)).status).toBe(403);

    expect([await seven.listWork(), await eight.listWork()]).toEqual([[], mine('eight')]);
    expect((await seven.take(id)).status).toBe(403);
    const second = await eight.take(id);
    expect(JSON.stringify(second.body)).toContain('object-1');
    expect(JSON.stringify(second.body)).not.toMatch(/object-[02]|seven/);
    expect(second.body['journal']).toEqual(['{"key":"0/op/0","lines":[],"value":{"failed":true}}']);
    const done = { lease: second.body['lease'], next: 'handover' };
    expect((await commit(eight, done, [{ key: '0/op/1', lines: [] }])).status).toBe(200);

    expect(await seven.listWork()).toEqual(mine('seven'));
    const third = await seven.take(id);
    expect(third.body).not.toHaveProperty('handsOver');
    expect(JSON.stringify(third.body)).not.toMatch(/object-[01]|eight/);
    const last = { lease: third.body['lease'] };
    expect(toErrors(await commit(seven, { ...last, next: 'handover' }))).toEqual([
      400,
      ['next: expected an end, for no other part follows'],
    ]);
    // One of the operations failed, of which the others know nothing but that.
    const ended = await commit(seven, { ...last, next: 'FAILED' }, [{ key: '0/op/2', lines: [] }]);
    expect(ended.status).toBe(200);
    const task = await world.system.waitForTask(id);
    expect(task).toMatchObject({ status: { failed: true }, resultObjects: [exception] });
    expect([await seven.listWork(), await eight.listWork()]).toEqual([[], []]);
  });

  test('that change a hundred times between accounts are not accepted', async () => {
    const turns = Array.from({ length: 101 }, (_, index) =>
      toDeploy(index % 2 === 0 ? 'seven' : 'eight', 'default', ['x']),
    );
    await expect(world.system.postOperations(turns)).rejects.toThrow(
      /400 .*The operations change 100 times between accounts that agents reach/,
    );
  });
});

/** What `seven` says of an operation of its that failed. */
const exception = { type: 'EXCEPTION', operation: 'x', message: 'of-seven', cause: 'of-seven' };
const failed = [
  { key: '0/op/0/made', lines: [], value: 'of-seven' },
  {
    ...{ key: '0/op/0', lines: [], value: { failed: true, why: 'of-seven' } },
    results: [JSON.stringify(exception)],
  },
];

function toErrors({ status, body }: RawAnswer): readonly unknown[] {
  return [status, body['errors'] ?? body['message']];
}

const cachingAgent = 'KubernetesCoreCachingAgent[1/1]';
const facts = { v: 1, k: 'pod', s: 'shop', n: 'a', u: 'uid-a', r: '123', p: { c: ['web'] } };

function toChange(part: object = {}): object {
  const change = { kind: 'pod', namespace: 'shop', name: 'a', version: '123', facts: JSON.stringify(facts) };
  return { ...change, ...part };
}

function withFacts(part: object): object {
  return toChange({ facts: JSON.stringify({ ...facts, ...part }) });
}

describe('caches', () => {
  const epoch = Math.floor(Date.now() / 60_000);
  let agent: RawAgent;
  const ask = (method: string, what: string, body?: object | Uint8Array<ArrayBuffer>): Promise<RawAnswer> =>
    callRaw(world.system.url, {
      ...{ method, target: `/agent/v1/caches/cached/${what}`, body },
      token: agent.token,
    });
  const write = (...changes: readonly object[]): Promise<RawAnswer> =>
    ask('POST', 'changes', { epoch, changes });

  beforeAll(async () => {
    agent = await open('cached');
  });

  test.each([
    ['POST', 'claims', { agent: cachingAgent }],
    ['GET', 'epoch', undefined],
    ['PUT', 'epoch', { epoch, cluster: '' }],
    ['GET', 'heads?kind=pod', undefined],
    ['POST', 'changes', { epoch, changes: [] }],
    ['POST', 'prunes', { applications: [] }],
  ] as const)('of other accounts, and of none, are closed to %s %s', async (method, what, body) => {
    for (const account of ['foreign', 'no-such']) {
      const answer = await agent.call(method, `/agent/v1/caches/${account}/${what}`, body);
      expect(toErrors(answer)).toEqual([403, `Account ${account} is none of this session`]);
    }
  });

  test('have an epoch that is raised first, and not to one from which there is no way back', async () => {
    expect(agent.welcome['accounts']).toMatchObject([{ name: 'cached', caching: true }]);
    const far = await ask('PUT', 'epoch', { epoch: epoch + 1_000, cluster: 'uid' });
    expect(toErrors(far)).toEqual([400, [expect.stringMatching(/^epoch: expected \d+ at most/)]]);
    expect(toErrors(await write(toChange()))).toEqual([
      400,
      [`epoch: expected that it is raised first, got ${epoch}`],
    ]);
    const raised = await ask('PUT', 'epoch', { epoch, cluster: 'uid' });
    expect(raised.body['current']).toEqual({ epoch, cluster: 'uid' });
    const next = await ask('POST', 'changes', { epoch: epoch + 1, changes: [] });
    expect(toErrors(next)).toEqual([400, [`epoch: expected ${epoch}, which is in force, got ${epoch + 1}`]]);
  });

  test.each([
    [
      'a kind that is a path',
      toChange({ kind: '../secrets' }),
      ".kind: expected a kind, as 'replicaSet' or 'CronTab.example.com'",
    ],
    ['a name that is a path', toChange({ name: 'a/b' }), '.name: expected the name of an object'],
    ['no version', toChange({ version: 'latest' }), '.version: expected 1 to 19 digits'],
    ['a long version', toChange({ version: '1'.repeat(20) }), '.version: expected 1 to 19 digits'],
    ['a version beyond all', toChange({ version: '9'.repeat(19) }), '.version: position'],
    [
      'a namespace that is closed',
      toChange({ namespace: 'bank', facts: undefined }),
      ": expected what the account may use, not pod in 'bank'",
    ],
    [
      'facts of another object',
      toChange({ name: 'b' }),
      '.facts: expected those of pod b, not of another object',
    ],
    ['facts that are none', toChange({ facts: 'x' }), '.facts: expected JSON text'],
    ['facts with holes', withFacts({ p: {} }), '.facts: p.c:'],
    ['facts with more than facts', withFacts({ O: { data: 'x' } }), '.facts:'],
    ['facts of another form', withFacts({ v: 99 }), '.facts.v: expected 1, got 99'],
  ])('take nothing of a batch that has %s', async (_what, change, error) => {
    const answer = await write(toChange({ name: 'first', facts: undefined }), change);
    expect(toErrors(answer)).toEqual([
      400,
      expect.arrayContaining([expect.stringContaining(`changes[1]${error}`)]),
    ]);
    expect((await ask('GET', 'heads?kind=pod')).body).toEqual({ heads: [] });
  });

  test('take nothing of batches that are too large, or no gzip', async () => {
    const many = await write(...Array.from({ length: 501 }, () => toChange()));
    expect([many.status, String(many.body['errors'])]).toEqual([400, expect.stringContaining('changes')]);
    expect((await ask('POST', 'changes', gzipSync(' '.repeat(9 * 2 ** 20)))).status).toBe(413);
    expect((await ask('POST', 'changes', new Uint8Array(randomBytes(300_000)))).status).toBe(413);
    expect((await ask('POST', 'changes', new Uint8Array(Buffer.from('no gzip')))).status).toBe(400);
    expect((await ask('GET', 'heads?kind=pod')).body).toEqual({ heads: [] });
  });

  test('have what is good once, however often it comes', async () => {
    const changes = [toChange(), toChange({ name: 'gone', facts: undefined })];
    const good = gzipSync(JSON.stringify({ epoch, changes }));
    const written = await ask('POST', 'changes', good);
    expect([written.status, written.body]).toEqual([200, { changes: 1, waiting: [], dropped: [] }]);
    expect((await ask('POST', 'changes', good)).body).toMatchObject({ changes: 0 });
    expect((await ask('GET', 'heads?kind=pod')).body).toEqual({
      heads: [{ namespace: 'shop', name: 'a', epoch, version: '123' }],
    });
    expect((await ask('GET', 'epoch')).body).toMatchObject({ kinds: ['pod'] });
    expect(toErrors(await ask('GET', 'heads?kind=pod&page=abc'))).toEqual([
      400,
      ['page: expected what the page before said of the next one'],
    ]);
  });

  test('have one lease: it is given anew to whom the answer never reached, and to no one who asks late', async () => {
    const lease = { fence: 1, turn: 0, startedMs: 0, lagMs: 0, usedMs: 0, stateWrites: 0, hasChunks: false };
    const kept = await ask('PUT', 'claims', { agent: cachingAgent, lease });
    expect([kept.status, kept.body['reason']]).toEqual([409, 'lost']);
    const claim = (askedMs?: number) => ask('POST', 'claims', { agent: cachingAgent, askedMs });
    const now = Date.now();
    const fences = [(await claim(now)).body['lease'], (await claim(now + 1)).body['lease']];
    expect(fences).toMatchObject([{ fence: 1 }, { fence: 2 }]);
    // Who asks again without a word of when, or late.
    for (const late of [undefined, now]) {
      const refused = await claim(late);
      expect([refused.status, refused.body['reason']]).toEqual([409, 'held']);
    }
  });
});
