import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createBusClient, createEventBus, publishTriesMax } from '#platform/aws/event-bus.ts';
import type { BusEvent } from '#platform/ports/event-bus.ts';
import { localClientOptions } from '#test/support/engines/local-aws-client.ts';
import { listenLocally } from '#test/support/network/local-server.ts';
import { createTestClock, testRandomness } from '#test/support/run/test-clock.ts';

interface Entry {
  readonly Detail: string;
}

/**
 * Publishes events on a bus that takes an entry if `takes` says so. @returns the details of each call, and whether the bus has
 * taken all
 */
async function publish(
  events: readonly BusEvent[],
  takes: (detail: unknown, call: number) => boolean,
): Promise<{ calls: unknown[][]; error: unknown }> {
  const calls: unknown[][] = [];
  const server = createServer(async (request, response) => {
    const { Entries } = JSON.parse(await text(request)) as { Entries: Entry[] };
    const details = Entries.map(({ Detail }) => (JSON.parse(Detail) as { id: unknown }).id);
    calls.push(details);
    const results = details.map((detail) =>
      takes(detail, calls.length) ? { EventId: 'e' } : { ErrorCode: 'ThrottlingException' },
    );
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(
      JSON.stringify({
        FailedEntryCount: results.filter((one) => 'ErrorCode' in one).length,
        Entries: results,
      }),
    );
  });
  const endpoint = `http://127.0.0.1:${await listenLocally(server)}`;
  const client = createBusClient({ ...localClientOptions, endpoint, maxAttempts: 1 });
  const bus = createEventBus(client, 'b', { clock: createTestClock(), randomness: testRandomness });
  const error = await bus.publish(events).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  client.destroy();
  server.close();
  return { calls, error };
}

function toEvents(count: number, padding = ''): BusEvent[] {
  return Array.from({ length: count }, (_, id) => ({ type: 'T', atMs: 0, detail: { id, padding } }));
}

test('events go out in order, ten at a time', async () => {
  const { calls, error } = await publish(toEvents(25), () => true);
  expect(error).toBeUndefined();
  expect(calls.map((call) => call.length)).toEqual([10, 10, 5]);
  expect(calls.flat()).toEqual(Array.from({ length: 25 }, (_, id) => id));
});

test('large events go out in calls that the bus takes', async () => {
  const { calls } = await publish(toEvents(5, 'x'.repeat(90_000)), () => true);
  expect(calls).toEqual([[0, 1], [2, 3], [4]]);
});

test('entries that are refused are sent again, and no others', async () => {
  const { calls, error } = await publish(toEvents(4), (id, call) => call > 1 || id === 0 || id === 2);
  expect(error).toBeUndefined();
  expect(calls).toEqual([
    [0, 1, 2, 3],
    [1, 3],
  ]);
});

test('entries that are refused again and again are given up, and that is told', async () => {
  const { calls, error } = await publish(toEvents(2), (id) => id === 0);
  expect(calls).toHaveLength(publishTriesMax);
  expect(error).toMatchObject({ message: 'the event bus refused 1 events: ThrottlingException' });
});
