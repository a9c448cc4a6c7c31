import { type ServiceError, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { GrpcHubClient } from '#infra/agent/hub/grpc-hub-client.ts';
import { HubAwayError } from '#infra/agent/hub/hub-client.ts';
import { GrpcClient, type GrpcHost, getRefusal, hello, openSession, startGrpcHost } from './grpc-host.ts';

/** What one process lets in within any second, and a number that is far beyond it. */
const perSecond = 25;
const crowd = 200;

const stack = new AsyncDisposableStack();
let home: GrpcHost;
let client: GrpcClient;
beforeAll(async () => {
  home = stack.use(await startGrpcHost());
  client = stack.use(new GrpcClient(home.port));
});
afterAll(() => stack.disposeAsync());

/** How a stream ended, or that it was taken. Whoever took it goes. */
async function watch(session: string, token: string): Promise<ServiceError | undefined> {
  const stream = client.watch('Sessions.Watch', { session }, token);
  const { promise, resolve } = Promise.withResolvers<ServiceError | undefined>();
  stream.on('error', resolve);
  stream.on('data', () => undefined);
  stream.once('metadata', () => resolve(undefined));
  const outcome = await promise;
  stream.cancel();
  return outcome;
}

/** A session, as soon as others leave a place for it. */
const openWhenAdmitted = () =>
  vi.waitFor(() => openSession(client, home.signer), { timeout: 60_000, interval: 500 });

/** Has strangers ask, many at a time, until something is done. @returns the codes that they were answered with */
async function whileStrangers(ask: () => Promise<number>, work: () => Promise<void>): Promise<Set<number>> {
  const codes = new Set<number>();
  let asked = 0;
  let isOver = false;
  const senders = Array.from({ length: 12 }, async () => {
    for (; !isOver; asked += 1) codes.add(await ask());
  });
  try {
    for (let round = 1; round <= 5; round += 1) {
      await expect.poll(() => asked).toBeGreaterThan(round * 4 * perSecond);
      await work();
    }
  } finally {
    isOver = true;
    await Promise.all(senders);
  }
  return codes;
}

test('strangers keep no agent from its session, nor from its watch', async () => {
  const foreign = await home.signer.sign({ subject: 'system:serviceaccount:busdriver:default' });
  const ask = async () => (await client.call('Sessions.Open', hello, { token: foreign })).code;
  const codes = await whileStrangers(ask, async () => {
    const { session, token } = await openSession(client, home.signer);
    expect(await watch(session, token)).toBeUndefined();
  });
  expect([...codes]).toEqual([status.UNAUTHENTICATED]);

  const { session, token } = await openWhenAdmitted();
  const listen = async () => (await watch(session, 'no-token'))?.code ?? 0;
  const ends = await whileStrangers(listen, async () => {
    expect(await watch(session, token)).toBeUndefined();
  });
  expect([...ends]).toEqual([status.UNAUTHENTICATED]);
});

test('agents get so many sessions within a second, and the others are told when to come again', async () => {
  const token = await home.signer.sign();
  const startedMs = performance.now();
  const outcomes = await Promise.all(
    Array.from({ length: crowd }, () => client.call('Sessions.Open', hello, { token })),
  );
  const seconds = Math.ceil((performance.now() - startedMs) / 1_000);
  const refused = outcomes.filter(({ code }) => code !== 0);
  expect(outcomes.length - refused.length).toBeLessThanOrEqual(perSecond * (seconds + 1));
  for (const { code, metadata } of refused) {
    expect(code).toBe(status.UNAVAILABLE);
    expect(getRefusal(metadata)).toMatchObject({ status: 503, retryAfterSeconds: expect.any(Number) });
  }
});

test('an agent is told so, too', async () => {
  const noTls = { ...{ caFile: undefined, serverName: undefined, skipsVerification: false } };
  await using hub = new GrpcHubClient(
    {
      url: `http://127.0.0.1:${home.port}`,
      tls: { ...noTls, certFile: undefined, keyFile: undefined, keyPassword: undefined },
      ...{ noProxy: true, environment: {} },
    },
    {},
  );
  const token = await home.signer.sign();
  const open = (): Promise<unknown> =>
    hub.call({ method: 'POST', path: '/agent/v1/sessions', token, body: hello }).catch((error) => error);
  // However slow the machine is, some time more than may be come within a second.
  const refusal = await vi.waitFor(
    async () => {
      const answers = await Promise.all(Array.from({ length: crowd }, open));
      // Some may find no answer in time.
      const found = answers.find((each) => each instanceof HubAwayError && each.isBusy);
      expect(found).toBeDefined();
      return found;
    },
    { timeout: 120_000, interval: 100 },
  );
  expect(refusal).toMatchObject({ isBusy: true, end: 'answered' });
  expect((refusal as HubAwayError).retryAfterMs).toBeGreaterThanOrEqual(1_000);
});

test('agents get so many watches within a second, and the others are told when to come again', async () => {
  const { session, token } = await openWhenAdmitted();
  const startedMs = performance.now();
  const ends = await Promise.all(Array.from({ length: crowd }, () => watch(session, token)));
  const seconds = Math.ceil((performance.now() - startedMs) / 1_000);
  const refused = ends.filter((end) => end?.code === status.UNAVAILABLE);
  // A session has two: whoever is not refused is taken, or had its place taken.
  expect(crowd - refused.length).toBeLessThanOrEqual(perSecond * (seconds + 1));
  for (const end of refused) expect(getRefusal(end?.metadata)?.retryAfterSeconds).toBeGreaterThan(0);
});
