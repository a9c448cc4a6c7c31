import { EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { BusEvent } from '#infra/local/engines/eventbridge/bus-events.ts';
import { startEventBridge } from '#test/support/engines/engine-servers.ts';
import { getEventsPage } from '#test/support/engines/events-page.ts';
import type { EngineServer } from '#test/support/engines/http-engine.ts';
import { localClientOptions } from '#test/support/engines/local-aws-client.ts';

let told: BusEvent[];
let server: EngineServer;
let client: EventBridgeClient;

beforeEach(async () => {
  told = [];
  server = await startEventBridge({ buses: ['busdriver'], onEvent: (event) => void told.push(event) });
  client = new EventBridgeClient({ ...localClientOptions, endpoint: server.url });
});

afterEach(async () => {
  client.destroy();
  await server[Symbol.asyncDispose]();
});

describe('an event', () => {
  test('is told as EventBridge delivers it', async () => {
    const at = new Date('2026-01-02T03:04:05.678Z');

    const answer = await put(makeEntry({ Time: at, Resources: ['task/1'], Detail: '{"id":"1"}' }));

    expect(answer.FailedEntryCount).toBe(0);
    expect(told).toEqual([
      {
        version: '0',
        id: answer.Entries?.[0]?.EventId,
        'detail-type': 'TaskCompleted',
        source: 'busdriver',
        account: '000000000000',
        time: '2026-01-02T03:04:05Z',
        region: 'us-east-1',
        resources: ['task/1'],
        detail: { id: '1' },
      },
    ]);
  });

  test('is fit for one entry, refused in another', async () => {
    const { FailedEntryCount, Entries = [] } = await put(
      makeEntry({}),
      makeEntry({ Detail: 'nonsense' }),
      makeEntry({ Detail: '[]' }),
      makeEntry({ DetailType: '' }),
      makeEntry({ Source: undefined }),
      makeEntry({ EventBusName: 'other' }),
    );
    expect(FailedEntryCount).toBe(5);
    expect(Entries.map(({ ErrorCode }) => ErrorCode)).toEqual([
      undefined,
      'MalformedDetail',
      'MalformedDetail',
      'InvalidArgument',
      'InvalidArgument',
      'ResourceNotFoundException',
    ]);
    expect(told).toHaveLength(1);
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

interface EventsPage {
  readonly events: readonly { readonly sequence: number; readonly event: BusEvent }[];
}

async function readEvents(since: number): Promise<EventsPage> {
  return (await getEventsPage(server.url, since)) as EventsPage;
}
