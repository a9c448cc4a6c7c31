import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GrpcHost } from './grpc-host.ts';
import { GrpcClient, getRefusal, hello, openSession, startGrpcHost } from './grpc-host.ts';

describe('gRPC', () => {
  const stack = new AsyncDisposableStack();
  let home: GrpcHost;
  let client: GrpcClient;
  beforeAll(async () => {
    home = stack.use(await startGrpcHost());
    client = stack.use(new GrpcClient(home.port));
  });
  afterAll(() => stack.disposeAsync());

  test('opens a session, renews it and ends it', async () => {
    const { session, token, welcome } = await openSession(client, home.signer);
    expect(welcome).toMatchObject({
      accounts: [{ name: 'edge', operations: true, definition: expect.stringContaining('edge') }],
      limits: { tasks: 20, accountTasks: 5, reads: 32, pollIdleMs: 100 },
    });
    expect(Math.abs(Number(welcome['serverMs']) - Date.now())).toBeLessThan(60_000);

    const renewed = await client.call('Sessions.Renew', { session, journalFormat: 1 }, { token });
    expect(renewed.answer['session']).toBe(session);
    expect(renewed.answer['token']).not.toBe('');
    const closed = await client.call('Sessions.Close', { session }, { token });
    expect([closed.code, closed.answer]).toEqual([0, {}]);
    const listed = await client.call('Sessions.ListWork', { session }, { token });
    expect(listed.code).toBe(status.UNAUTHENTICATED);
  });

  test('hands out work, leases it, and takes what was done', async () => {
    const { session, token } = await openSession(client, home.signer);
    const id = await home.post();
    const work = await client.call('Sessions.ListWork', { session }, { token });
    expect(work.answer['work']).toContainEqual({ kind: 'TASK', account: 'edge', id });

    const taken = await client.call('Tasks.Take', { task: id, owner: 'me', attempts: 1 }, { token });
    expect(taken.answer).toMatchObject({ id, account: 'edge', lease: { sequence: 0 } });
    expect(JSON.parse(String(taken.answer['operations']))).toHaveLength(1);
    const again = await client.call('Tasks.Take', { task: id, owner: 'you', attempts: 1 }, { token });
    expect([again.code, getRefusal(again.metadata)]).toMatchObject([
      status.ABORTED,
      { status: 409, reason: 'held' },
    ]);

    const lease = taken.answer['lease'] as { fence: number; sequence: number };
    expect((await client.call('Tasks.Renew', { task: id, ...lease }, { token })).code).toBe(0);
    const next = { task: id, lease, next: 'FAILED', entries: [] };
    const committed = await client.call('Tasks.Commit', next, { token });
    expect(committed.answer).toEqual({ fence: lease.fence, sequence: lease.sequence + 1 });
    const lost = await client.call('Tasks.Renew', { task: id, ...lease }, { token });
    const finished = { status: 409, reason: 'finished' };
    expect([lost.code, getRefusal(lost.metadata)]).toMatchObject([status.ABORTED, finished]);
    const task = await (await fetch(new URL(`/task/${id}`, home.host.url))).json();
    expect(task).toMatchObject({ status: { failed: true } });
  });

  test('refuses a task whose journal has another format than the agent, as over HTTP', async () => {
    const other = { ...hello, journalFormat: 2 };
    const opened = await client.call('Sessions.Open', other, { token: await home.signer.sign() });
    const token = String(opened.answer['token']);
    expect(opened.answer['accounts']).toMatchObject([
      { name: 'edge', operations: false, refused: expect.stringContaining('journal format 2') },
    ]);
    const id = await home.post();
    const taken = await client.call('Tasks.Take', { task: id, owner: 'me', attempts: 1 }, { token });
    const message =
      'The journal of the task has another format than the agent has: it is 1, the agent has 2: ' +
      'install an agent whose journal format is 1';
    expect([taken.code, taken.details, getRefusal(taken.metadata)]).toEqual([
      status.ABORTED,
      message,
      { status: 409, reason: 'journal-format', message, errors: [] },
    ]);
  });

  test('hands out live reads, and takes their answers in parts', async () => {
    const { session, token } = await openSession(client, home.signer);
    const asked = fetch(new URL('/manifests/edge/default/configMap%20x', home.host.url));
    const list = async () => {
      const { answer } = await client.call('Sessions.ListWork', { session }, { token });
      return (answer['work'] as { kind: string; id: string }[]).find(({ kind }) => kind === 'READ')?.id;
    };
    await expect.poll(list).toBeDefined();
    const read = await list();
    const taken = await client.call('Reads.Take', { read }, { token });
    expect(taken.answer).toMatchObject({ id: read, account: 'edge', method: 'manifests.get' });
    const failure = { name: 'NotFoundError', message: 'there is none' };
    const part = { read, take: taken.answer['take'], part: 0, last: true, failure };
    expect((await client.call('Reads.Answer', [part], { token })).code).toBe(0);
    expect((await asked).status).toBe(404);
    expect((await client.call('Reads.Answer', [], { token })).code).toBe(status.INVALID_ARGUMENT);
  });

  const lease = { fence: 1, sequence: 0 };
  const warnings = Array(201).fill('x');
  test.each([
    ['Sessions.Open', { ...hello, agentId: 'a@b' }, [status.INVALID_ARGUMENT, 'agentId: expected letters']],
    ['Sessions.Open', { ...hello, accounts: [] }, [status.INVALID_ARGUMENT, 'accounts']],
    ['Sessions.Open', { ...hello, protocol: 9 }, [status.INVALID_ARGUMENT, 'protocol: expected 1, got 9']],
    ['Sessions.Renew', { session: 'SESSION', warnings }, [status.INVALID_ARGUMENT, 'warnings']],
    ['Sessions.Renew', { session: 'another' }, [status.PERMISSION_DENIED, 'another session']],
    ['Sessions.ListWork', { session: '' }, [status.PERMISSION_DENIED, 'another session']],
    ['Sessions.Close', { session: '../x' }, [status.PERMISSION_DENIED, 'another session']],
    ['Tasks.Take', { task: 'none', owner: 'me', attempts: 1 }, [status.PERMISSION_DENIED, 'of no account']],
    ['Tasks.Take', { task: 'none', owner: 'm e', attempts: 1 }, [status.INVALID_ARGUMENT, 'owner: expected']],
    ['Tasks.Take', { task: 'none', owner: 'me', attempts: 101 }, [status.INVALID_ARGUMENT, 'attempts']],
    ['Tasks.Renew', { task: 'none', fence: -1 }, [status.INVALID_ARGUMENT, 'fence']],
    ['Tasks.Commit', { task: 'none', next: 'hold' }, [status.INVALID_ARGUMENT, 'lease']],
    ['Tasks.Commit', { task: 'none', lease, next: 'gone' }, [status.INVALID_ARGUMENT, 'next']],
    ['Reads.Take', { read: 'none' }, [status.PERMISSION_DENIED, 'of no account']],
    ['Reads.Answer', { read: 'none', part: 100_000 }, [status.INVALID_ARGUMENT, 'part']],
  ])('%s refuses %.60j', async (name, message, [code, told]) => {
    const { session, token } = await openSession(client, home.signer);
    const sent = JSON.parse(JSON.stringify(message).replace('SESSION', session));
    const proof = name === 'Sessions.Open' ? await home.signer.sign() : token;
    const outcome = await client.call(name, sent, { token: proof });
    expect([outcome.code, outcome.details]).toEqual([code, expect.stringContaining(String(told))]);
  });

  test('refuses who shows no token, and tokens of others', async () => {
    const { session } = await openSession(client, home.signer);
    expect((await client.call('Sessions.Open', hello)).code).toBe(status.UNAUTHENTICATED);
    expect((await client.call('Sessions.ListWork', { session })).code).toBe(status.UNAUTHENTICATED);
    const foreign = await home.signer.sign({ subject: 'system:serviceaccount:busdriver:default' });
    expect((await client.call('Sessions.Open', hello, { token: foreign })).code).toBe(status.UNAUTHENTICATED);
  });

  test('takes messages of 4 MB, and refuses those of 5 before it reads them', async () => {
    const { token } = await openSession(client, home.signer);
    const commit = (bytes: number) => ({
      ...{ task: 'none', lease, next: 'hold' },
      entries: Array.from({ length: 100 }, () => 'x'.repeat(bytes / 100)),
    });
    const large = await client.call('Tasks.Commit', commit(3.9 * 2 ** 20), { token });
    expect(large.code).toBe(status.PERMISSION_DENIED);
    const larger = await client.call('Tasks.Commit', commit(5 * 2 ** 20), { token });
    const told = expect.stringContaining('4194304');
    expect([larger.code, larger.details]).toEqual([status.RESOURCE_EXHAUSTED, told]);
  });

  test('gives a call up at its deadline', async () => {
    const { session, token } = await openSession(client, home.signer);
    const late = await client.call('Sessions.ListWork', { session }, { token, deadlineMs: 1 });
    expect(late.code).toBe(status.DEADLINE_EXCEEDED);
  });
});
