import {
  CreateEventBusCommand,
  DescribeEventBusCommand,
  EventBridgeClient,
  ListRulesCommand,
  ListTargetsByRuleCommand,
  PutEventsCommand,
  type PutEventsRequestEntry,
  PutRuleCommand,
  PutTargetsCommand,
  RemoveTargetsCommand,
} from '@aws-sdk/client-eventbridge';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AwsJsonServer } from '../../../infra/local/aws-json-server.ts';
import { startEventBridge } from '../../../infra/local/eventbridge.ts';
import type { BusEvent } from '../../../infra/local/eventbridge-bus.ts';
import { localClientOptions, openTestAccess } from '../../support/local-aws-client.ts';
import { getEventsPage } from '../../support/signed-fetch.ts';

let delivered: { readonly target: string; readonly event: BusEvent }[];
let errors: string[];
let server: AwsJsonServer;
let client: EventBridgeClient;

beforeEach(async () => {
  delivered = [];
  errors = [];
  server = await startEventBridge({
    buses: ['busdriver'],
    async deliver(target, event) {
      if (target.endsWith(':broken')) throw new Error('no such target');
      delivered.push({ target, event });
    },
    access: openTestAccess(),
    log: { debug() {}, info() {}, warn() {}, error: (message) => void errors.push(message) },
  });
  client = new EventBridgeClient({ ...localClientOptions, endpoint: server.url });
});

afterEach(async () => {
  client.destroy();
  await server[Symbol.asyncDispose]();
});

describe('an event', () => {
  test('reaches the targets of the rules that match, as EventBridge delivers it', async () => {
    await putRule('completed', { 'detail-type': ['TaskCompleted'] }, ['arn:one', 'arn:two']);
    await putRule('failed', { 'detail-type': ['TaskFailed'] }, ['arn:three']);
    const at = new Date('2026-01-02T03:04:05.678Z');

    const answer = await put(makeEntry({ Time: at, Resources: ['task/1'], Detail: '{"id":"1"}' }));

    expect(answer.FailedEntryCount).toBe(0);
    expect(delivered.map(({ target }) => target)).toEqual(['arn:one', 'arn:two']);
    expect(delivered[0]?.event).toEqual({
      version: '0',
      id: answer.Entries?.[0]?.EventId,
      'detail-type': 'TaskCompleted',
      source: 'busdriver',
      account: '000000000000',
      time: '2026-01-02T03:04:05Z',
      region: 'us-east-1',
      resources: ['task/1'],
      detail: { id: '1' },
    });
  });

  test('is fit for one entry, refused in another', async () => {
    const { FailedEntryCount, Entries = [] } = await put(
      makeEntry({}),
      makeEntry({ Detail: 'nonsense' }),
      makeEntry({ Detail: '[]' }),
      makeEntry({ DetailType: '' }),
      makeEntry({ Source: undefined }),
    );
    expect(FailedEntryCount).toBe(4);
    expect(Entries.map(({ ErrorCode }) => ErrorCode)).toEqual([
      undefined,
      'MalformedDetail',
      'MalformedDetail',
      'InvalidArgument',
      'InvalidArgument',
    ]);
  });

  test('is not delivered where its rule is disabled or its target removed', async () => {
    await putRule('off', { source: ['busdriver'] }, ['arn:off']);
    await client.send(
      new PutRuleCommand({
        Name: 'off',
        EventBusName: 'busdriver',
        EventPattern: '{"source":["busdriver"]}',
        State: 'DISABLED',
      }),
    );
    await putRule('on', { source: ['busdriver'] }, ['arn:on', 'arn:removed']);
    await client.send(new RemoveTargetsCommand({ EventBusName: 'busdriver', Rule: 'on', Ids: ['1'] }));
    await put(makeEntry({}));
    expect(delivered.map(({ target }) => target)).toEqual(['arn:on']);
  });

  test('that a target cannot take is logged, and accepted all the same', async () => {
    await putRule('all', { source: ['busdriver'] }, ['arn:broken', 'arn:sound']);
    expect((await put(makeEntry({}))).FailedEntryCount).toBe(0);
    await expect.poll(() => errors).toEqual(['an event was not delivered']);
    expect(delivered.map(({ target }) => target)).toEqual(['arn:sound']);
  });

  test('can be looked at, the latest thousand at least', async () => {
    for (let sent = 0; sent < 300; sent++) {
      await put(
        ...Array.from({ length: 10 }, (_, index) => makeEntry({ Detail: `{"n":${10 * sent + index}}` })),
      );
    }
    const { events } = await readEvents(0);
    expect(events.length).toBeGreaterThanOrEqual(1000);
    expect(events.length).toBeLessThanOrEqual(2000);
    expect(events.at(-1)).toMatchObject({
      sequence: 3000,
      busName: 'busdriver',
      event: { detail: { n: 2999 } },
    });
    expect((await readEvents(2998)).events.map(({ sequence }) => sequence)).toEqual([2999, 3000]);
  });
});

describe('a request', () => {
  test('takes one to ten entries of a megabyte together', async () => {
    await expect(put()).rejects.toMatchObject({ name: 'ValidationException' });
    await expect(put(...Array(11).fill(makeEntry({})))).rejects.toMatchObject({
      name: 'ValidationException',
    });
    const large = makeEntry({ Detail: JSON.stringify({ text: 'x'.repeat(600_000) }) });
    expect((await put(large)).FailedEntryCount).toBe(0);
    await expect(put(large, large)).rejects.toMatchObject({ name: 'ValidationException' });
  });

  test('makes and describes buses', async () => {
    const { EventBusArn } = await client.send(new CreateEventBusCommand({ Name: 'other' }));
    expect(EventBusArn).toBe('arn:aws:events:us-east-1:000000000000:event-bus/other');
    expect(await client.send(new DescribeEventBusCommand({ Name: 'other' }))).toMatchObject({
      Name: 'other',
    });
    await expect(client.send(new CreateEventBusCommand({ Name: 'other' }))).rejects.toMatchObject({
      name: 'ResourceAlreadyExistsException',
    });
    await expect(client.send(new DescribeEventBusCommand({ Name: 'none' }))).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
  });

  test('lists rules and targets', async () => {
    await putRule('one', { source: ['a'] }, ['arn:one']);
    const { Rules } = await client.send(new ListRulesCommand({ EventBusName: 'busdriver' }));
    expect(Rules).toMatchObject([
      {
        Name: 'one',
        Arn: 'arn:aws:events:us-east-1:000000000000:rule/busdriver/one',
        EventPattern: '{"source":["a"]}',
        State: 'ENABLED',
      },
    ]);
    const request = new ListTargetsByRuleCommand({ EventBusName: 'busdriver', Rule: 'one' });
    expect((await client.send(request)).Targets).toEqual([{ Id: '0', Arn: 'arn:one' }]);
  });

  test('with a bad pattern, or for an unknown rule, is refused', async () => {
    await expect(putRule('bad', 'nonsense', [])).rejects.toMatchObject({
      name: 'InvalidEventPatternException',
    });
    await expect(
      client.send(new PutTargetsCommand({ Rule: 'none', EventBusName: 'busdriver', Targets: [] })),
    ).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });

  test('of a web page is refused', async () => {
    const page = { headers: { origin: 'https://evil.test' } };
    expect((await fetch(`${server.url}/events`, page)).status).toBe(403);
  });
});

function makeEntry(
  entry: { [name in keyof PutEventsRequestEntry]?: PutEventsRequestEntry[name] | undefined },
) {
  const defaults = {
    EventBusName: 'busdriver',
    Source: 'busdriver',
    DetailType: 'TaskCompleted',
    Detail: '{}',
  };
  return { ...defaults, ...entry } as PutEventsRequestEntry;
}

function put(...Entries: PutEventsRequestEntry[]) {
  return client.send(new PutEventsCommand({ Entries }));
}

async function putRule(Name: string, pattern: object | string, targets: string[]): Promise<void> {
  const EventPattern = typeof pattern === 'string' ? pattern : JSON.stringify(pattern);
  await client.send(new PutRuleCommand({ Name, EventBusName: 'busdriver', EventPattern }));
  const Targets = targets.map((Arn, index) => ({ Id: String(index), Arn }));
  await client.send(new PutTargetsCommand({ Rule: Name, EventBusName: 'busdriver', Targets }));
}

interface EventsPage {
  readonly events: readonly { readonly sequence: number; readonly event: BusEvent }[];
}

async function readEvents(since: number): Promise<EventsPage> {
  const page = await getEventsPage(server.url, `/events?since=${since}`, localClientOptions.credentials);
  return page as EventsPage;
}
