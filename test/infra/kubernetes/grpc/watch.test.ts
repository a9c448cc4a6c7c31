import { type ServiceError, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openConnections } from '#agents/sessions/connections.ts';
import { GrpcClient, type GrpcHost, getRefusal, openSession, startGrpcHost } from './grpc-host.ts';

/** A stream of work as a client sees it. */
function watch(client: GrpcClient, session: string, token: string) {
  const stream = client.watch('Sessions.Watch', { session }, token);
  const work: unknown[] = [];
  stream.on('data', (each) => work.push(each));
  const opened = new Promise<void>((resolve) => stream.once('metadata', () => resolve()));
  const ended = new Promise<ServiceError>((resolve) => stream.once('error', resolve));
  return { stream, work, opened, ended };
}

describe('Sessions.Watch', () => {
  const stack = new AsyncDisposableStack();
  let home: GrpcHost;
  let client: GrpcClient;
  beforeAll(async () => {
    home = stack.use(await startGrpcHost());
    client = stack.use(new GrpcClient(home.port));
  });
  afterAll(() => stack.disposeAsync());

  const listRows = () => openConnections(home.host.services).list('edge');

  test('tells what there is to do, then what comes, until the session is closed', async () => {
    const { session, token } = await openSession(client, home.signer);
    const before = await home.post();
    const { work, opened, ended } = watch(client, session, token);
    await opened;
    await expect.poll(() => work).toContainEqual({ kind: 'TASK', account: 'edge', id: before });
    expect(await listRows()).toMatchObject([
      { session, agentId: 'test', transport: 'grpc', holder: 'spin-clouddriver-0' },
    ]);
    const after = await home.post();
    await expect.poll(() => work).toContainEqual({ kind: 'TASK', account: 'edge', id: after });

    expect((await client.call('Sessions.Close', { session }, { token })).code).toBe(0);
    expect(await ended).toMatchObject({
      code: status.UNAUTHENTICATED,
      details: 'The session is over: open another one',
    });
    expect(work.at(-1)).toEqual({ kind: 'CLOSE', account: 'edge', id: session });
    await expect.poll(listRows).toEqual([]);
  });

  test('ends ABORTED when another one takes its place, and is forgotten when the client goes', async () => {
    const { session, token } = await openSession(client, home.signer);
    const all = [];
    for (let count = 0; count < 3; count += 1) {
      const each = watch(client, session, token);
      await each.opened;
      all.push(each);
    }
    const [first, second, third] = all;
    expect(await first?.ended).toMatchObject({ code: status.ABORTED });
    await expect.poll(async () => (await listRows()).length).toBe(2);
    for (const each of [second, third]) each?.stream.cancel();
    await expect.poll(listRows).toEqual([]);
    expect(home.host.agents.connections.size).toBe(0);
  });

  test('is refused without a token, with that of another session, and after its session', async () => {
    const { session, token } = await openSession(client, home.signer);
    const other = await openSession(client, home.signer);
    const refuse = async (named: string, shown: string) => (await watch(client, named, shown).ended).code;
    expect(await refuse(session, '')).toBe(status.UNAUTHENTICATED);
    expect(await refuse(session, `${token}x`)).toBe(status.UNAUTHENTICATED);
    expect(await refuse(other.session, token)).toBe(status.PERMISSION_DENIED);
    await client.call('Sessions.Close', { session }, { token });
    expect(await refuse(session, token)).toBe(status.UNAUTHENTICATED);
    expect(home.host.agents.connections.size).toBe(0);
  });

  test('ends UNAUTHENTICATED when the agents of its account are revoked', async () => {
    const { session, token } = await openSession(client, home.signer);
    const { opened, ended } = watch(client, session, token);
    await opened;
    const set = async (state: string): Promise<number> => {
      const answer = await fetch(new URL('/credentials/edge/agents', home.host.url), {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ state }),
      });
      return answer.status;
    };
    expect(await set('revoked')).toBe(200);
    expect((await ended).code).toBe(status.UNAUTHENTICATED);
    expect(await set('enrolled')).toBe(200);
  });

  test('ends UNAVAILABLE when the replica stops', async () => {
    await using leaving = await startGrpcHost();
    using caller = new GrpcClient(leaving.port);
    const { session, token } = await openSession(caller, leaving.signer);
    const { opened, ended } = watch(caller, session, token);
    await opened;
    await leaving.host[Symbol.asyncDispose]();
    const end = await ended;
    expect(end.code).toBe(status.UNAVAILABLE);
    expect(getRefusal(end.metadata)).toMatchObject({ status: 503, retryAfterSeconds: 1 });
  });
});
