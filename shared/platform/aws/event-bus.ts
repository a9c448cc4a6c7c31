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

/** Entries of one PutEvents call: EventBridge's maximum. */
const entriesMax = 10;

/** Bytes of the entries of one call, at most: EventBridge's limit was 256 KB before it was raised, and it counts some further bytes. */
const callBytesMax = 200 * 1024;

/** Calls for the same events before giving up: by the bus, since single entries may be refused, too, not by the SDK. */
export const publishTriesMax = 2;

/** The pause between them. */
const backOff = { firstMs: 200, fixedShare: 0.5 };

/** `source` of all our events. */
export const eventSource = 'busdriver';

interface EventBusOptions {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly randomness: Pick<Randomness, 'fraction'>;
}

/** What sends commands to EventBridge. */
export type BusClient = Pick<EventBridgeClient, 'send'>;

/** A client of EventBridge. */
export function createBusClient(config: EventBridgeClientConfig): EventBridgeClient {
  return new EventBridgeClient(config);
}

/** The bus on EventBridge. It repeats failures, a bounded number of times, not calls without an answer: `client` repeats nothing itself. */
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

/** The entries that the bus did not take, and why; undefined when it took all. */
async function tryPutEvents(
  client: BusClient,
  entries: readonly PutEventsRequestEntry[],
): Promise<{ left: readonly PutEventsRequestEntry[]; error: unknown } | undefined> {
  let results: readonly PutEventsResultEntry[];
  try {
    results = (await client.send(new PutEventsCommand({ Entries: [...entries] }))).Entries ?? [];
  } catch (error) {
    // A bus that did not answer may have taken all: whoever keeps the events publishes them again later.
    if (error instanceof Error && error.name === 'TimeoutError') throw error;
    return { left: entries, error };
  }
  // An entry was not taken unless the answer says so.
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
