import type { ServerWritableStream, ServiceDefinition } from '@grpc/grpc-js';
import { Metadata, Server, ServerCredentials, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RefusalCodec } from '#agents/protocol/grpc/refusal.ts';
import type { Welcome } from '#agents/protocol/messages.ts';
import { HintKeeper } from '#infra/agent/hint-keeper.ts';
import type { HintLine, HintLineOptions } from '#infra/agent/hub/hint-line.ts';
import { ReturnPlace } from '#infra/agent/hub/return-place.ts';
import { openHub } from '#infra/agent/open-hub.ts';
import { type GrpcHost, schema, startGrpcHost } from '#test/infra/kubernetes/grpc/grpc-host.ts';
import { createTestLog } from '#test/shared/providers/artifacts/options.ts';
import { openRawAgent } from '#test/support/agents/raw-agent.ts';
import { createTestClock, type TestClock, testRandomness } from '#test/support/run/test-clock.ts';

const minute = 60_000;

const welcome: Welcome = {
  ...{ session: 'session', token: 'token', expiresMs: 0, serverMs: 0, hintUrl: '/agent/v1/hints' },
  accounts: [],
  limits: { tasks: 1, accountTasks: 1, pollIdleMs: 100, pollBusyMs: 100 },
};

const noTls = {
  ...{ caFile: undefined, serverName: undefined, skipsVerification: false },
  ...{ certFile: undefined, keyFile: undefined, keyPassword: undefined },
};

interface Kept extends AsyncDisposable {
  readonly clock: TestClock;
  /** The ids of all hints. */
  readonly told: readonly string[];
  /** What became of connections, in its order. */
  readonly events: readonly string[];
}

/** Keeps a connection to an address, by a clock that can be turned. */
async function keep(url: string, transport: 'grpc' | 'websocket', given: Welcome): Promise<Kept> {
  const clock = createTestClock();
  const log = createTestLog();
  const told: string[] = [];
  const events: string[] = [];
  const hub = await openHub({ url, transport, tls: noTls, noProxy: true, environment: {} });
  const stop = new AbortController();
  let count = 0;
  const connect = (options: HintLineOptions): HintLine | undefined => {
    const line = hub.connect(options);
    count += 1;
    return line && noteEvents(line, count, events);
  };
  const keeper = new HintKeeper({
    session: { getWelcome: async () => given, forget: () => undefined, isConnected: true },
    client: { connect },
    place: new ReturnPlace({ clock, randomness: testRandomness }),
    ...{ clock, randomness: testRandomness, log, transport },
    onHint: ({ id }) => void told.push(id),
    onChange: () => undefined,
  });
  const running = keeper.run(stop.signal);
  return {
    ...{ clock, told, events },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      await hub[Symbol.asyncDispose]();
    },
  };
}

function noteEvents(line: HintLine, number: number, events: string[]): HintLine {
  events.push(`${number} begins`);
  void line.ended.then(() => events.push(`${number} ended`));
  return {
    ended: line.ended,
    async waitUntilOpen() {
      const isOpen = await line.waitUntilOpen();
      if (isOpen) events.push(`${number} is open`);
      return isOpen;
    },
    close: () => line.close(),
  };
}

describe('a connection for hints', () => {
  const stack = new AsyncDisposableStack();
  let home: GrpcHost;
  beforeAll(async () => {
    home = stack.use(await startGrpcHost());
  });
  afterAll(() => stack.disposeAsync());

  test.each(['websocket', 'grpc'] as const)(
    'over %s is followed by another one after 105 to 115 minutes, before it is closed',
    async (transport) => {
      const { session, token } = await openRawAgent(home.host.url, home.signer, {
        ...{ agentId: transport, accounts: ['edge'] },
      });
      const url = transport === 'grpc' ? `http://127.0.0.1:${home.port}` : home.host.url;
      await using kept = await keep(url, transport, { ...welcome, session, token });
      const { clock, events, told } = kept;
      await expect.poll(() => events).toEqual(['1 begins', '1 is open']);
      clock.advance(104 * minute);
      const first = await home.post();
      await expect.poll(() => told).toContain(first);
      expect(events).toEqual(['1 begins', '1 is open']);

      clock.advance(11 * minute);
      const posted: string[] = [];
      await expect
        .poll(
          async () => {
            posted.push(await home.post());
            return events;
          },
          { interval: 1 },
        )
        .toEqual(['1 begins', '1 is open', '2 begins', '2 is open', '1 ended']);
      posted.push(await home.post());
      await expect.poll(() => told).toEqual(expect.arrayContaining(posted));
    },
  );
});

/** `google.rpc.Status` with the details that are given, in the order of its fields: code, message, details. */
function toStatus(code: number, message: string, details: readonly Buffer[]): Buffer {
  const start = Buffer.concat([Buffer.from([8, code]), toField(2, Buffer.from(message))]);
  return Buffer.concat([start, ...details.map((each) => toField(3, each))]);
}

/** `google.rpc.RetryInfo` of 599 seconds and some nanoseconds, in its `google.protobuf.Any`. */
function toRetryInfo(): Buffer {
  const duration = Buffer.from([8, 0xd7, 0x04, 16, 5]);
  const type = Buffer.from('type.googleapis.com/google.rpc.RetryInfo');
  return Buffer.concat([toField(1, type), toField(2, toField(1, duration))]);
}

/** A field of Protocol Buffers whose bytes are fewer than 128. */
function toField(id: number, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(id << 3) | 2, bytes.length]), bytes]);
}

/** A server that refuses each watch with UNAVAILABLE and the details that are given. */
async function startRefusing(details: Buffer): Promise<AsyncDisposable & { readonly url: string }> {
  const sessions = schema['busdriver.agent.v1.Sessions'];
  if (sessions === undefined || 'format' in sessions) throw new Error('no service Sessions');
  const server = new Server();
  const refuse = (): void => undefined;
  server.addService(sessions as ServiceDefinition, {
    ...Object.fromEntries(Object.keys(sessions).map((name) => [name, refuse])),
    Watch(stream: ServerWritableStream<object, object>) {
      const metadata = new Metadata();
      metadata.set('grpc-status-details-bin', details);
      stream.emit('error', { code: status.UNAVAILABLE, details: 'too many', metadata });
    },
  });
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
    error === null ? resolve(port) : reject(error),
  );
  const url = `http://127.0.0.1:${await promise}`;
  return { url, [Symbol.asyncDispose]: async () => server.forceShutdown() };
}

describe('a watch that is refused', () => {
  const refusal = { status: 503, message: 'too many', retryAfterSeconds: 600 };
  test.each([
    ['Busdriver tells', new RefusalCodec().encode(status.UNAVAILABLE, refusal)],
    ['who stands between tells', toStatus(status.UNAVAILABLE, 'too many', [toRetryInfo()])],
  ])('is tried again after the time that %s', async (_who, details) => {
    await using server = await startRefusing(details);
    await using kept = await keep(server.url, 'grpc', welcome);
    const { clock, events } = kept;
    await expect.poll(() => events).toEqual(['1 begins', '1 ended']);
    const refusedMs = clock.monotonic();
    await expect
      .poll(
        () => {
          clock.advance(minute);
          return events;
        },
        { interval: 20 },
      )
      .toContain('2 begins');
    expect(clock.monotonic() - refusedMs).toBeGreaterThanOrEqual(600_000);
  });
});
