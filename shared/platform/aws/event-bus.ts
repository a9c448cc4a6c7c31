import {
  EventBridgeClient,
  type EventBridgeClientConfig,
  PutEventsCommand,
  type PutEventsRequestEntry,
  type PutEventsResultEntry,
} from '@aws-sdk/client-eventbridge';
import { getPauseMs } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import type { BusEvent, EventBus } from '../ports/event-bus.ts';

/** Entries of one PutEvents call: the most that EventBridge takes. */
const entriesMax = 10;

/** Bytes of the entries of one call, at most: EventBridge took 256 KB before it took more, and counts some bytes besides. */
const callBytesMax = 200 * 1024;

/** Calls for the same events before giving up: of the bus, which refuses single entries, too, and not of the SDK. */
export const publishTriesMax = 2;

/** The pause between them. */
const backOff = { firstMs: 200, fixedShare: 0.5 };

/** `source` of every event of ours. */
export const eventSource = 'busdriver';

/** What waiting between two calls needs. */
export interface EventBusOptions {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly randomness: Pick<Randomness, 'fraction'>;
}

/** What sends commands to EventBridge. */
export type BusClient = Pick<EventBridgeClient, 'send'>;

/** A client of EventBridge. */
export function createBusClient(config: EventBridgeClientConfig): EventBridgeClient {
  return new EventBridgeClient(config);
}

/**
 * The bus on EventBridge. What fails, and entries that it refuses, are sent again, a bounded number of times; what was left without an
 * answer is not.
 *
 * @param client one that repeats nothing by itself.
 */
export function createEventBus(client: BusClient, busName: string, options: EventBusOptions): EventBus {
  return {
    async publish(events) {
      for (const entries of divide(events.map((event) => toEntry(event, busName)))) {
        await putEvents(client, entries, options);
      }
    },
  };
}

/** Entries call by call, in order. */
function* divide(
  entries: readonly PutEventsRequestEntry[],
): Generator<readonly PutEventsRequestEntry[], void, void> {
  let call: PutEventsRequestEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = Buffer.byteLength(entry.Detail ?? '');
    if (call.length === entriesMax || (call.length > 0 && bytes + size > callBytesMax)) {
      yield call;
      call = [];
      bytes = 0;
    }
    call.push(entry);
    bytes += size;
  }
  if (call.length > 0) yield call;
}

async function putEvents(
  client: BusClient,
  entries: readonly PutEventsRequestEntry[],
  { clock, randomness }: EventBusOptions,
): Promise<void> {
  let left = entries;
  for (let tries = 1; ; tries += 1) {
    const outcome = await tryPutEvents(client, left);
    if (outcome === undefined) return;
    if (tries === publishTriesMax) throw outcome.error;
    left = outcome.left;
    await clock.sleep(getPauseMs(backOff, tries, randomness));
  }
}

/** What the bus did not take, and why; undefined when it took all. */
async function tryPutEvents(
  client: BusClient,
  entries: readonly PutEventsRequestEntry[],
): Promise<{ left: readonly PutEventsRequestEntry[]; error: unknown } | undefined> {
  let results: readonly PutEventsResultEntry[];
  try {
    results = (await client.send(new PutEventsCommand({ Entries: [...entries] }))).Entries ?? [];
  } catch (error) {
    // A bus that was silent may have taken all: who keeps the events tells them again later.
    if (error instanceof Error && error.name === 'TimeoutError') throw error;
    return { left: entries, error };
  }
  // An entry of which the answer does not say that it was taken was not.
  const left = entries.filter((_, index) => results[index]?.EventId === undefined);
  if (left.length === 0) return undefined;
  const code = results.find(({ ErrorCode }) => ErrorCode)?.ErrorCode;
  return { left, error: new Error(`the event bus refused ${left.length} events: ${code}`) };
}

function toEntry(event: BusEvent, busName: string): PutEventsRequestEntry {
  return {
    EventBusName: busName,
    Source: eventSource,
    DetailType: event.type,
    Time: new Date(event.atMs),
    Detail: JSON.stringify(event.detail),
  };
}
