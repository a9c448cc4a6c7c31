import {
  EventBridgeClient,
  type EventBridgeClientConfig,
  PutEventsCommand,
} from '@aws-sdk/client-eventbridge';
import type { BusEvent, EventBus } from '../core/task-events.ts';

/** Entries of one PutEvents call. */
const entriesMax = 10;

/** Calls for the same events before giving up. */
const triesMax = 3;

/** `source` of every event of ours. */
export const eventSource = 'busdriver';

/** The bus on EventBridge with a client of its own. */
export function openEventBus(options: EventBridgeClientConfig, busName: string): EventBus {
  return createEventBus(new EventBridgeClient(options), busName);
}

/** The bus on EventBridge. Entries that it refuses are sent again, a bounded number of times. */
export function createEventBus(client: EventBridgeClient, busName: string): EventBus {
  return {
    async publish(events) {
      for (let start = 0; start < events.length; start += entriesMax) {
        await putEvents(client, busName, events.slice(start, start + entriesMax));
      }
    },
  };
}

async function putEvents(
  client: EventBridgeClient,
  busName: string,
  events: readonly BusEvent[],
): Promise<void> {
  let left = events;
  for (let attempt = 1; left.length > 0; attempt += 1) {
    const answer = await client.send(
      new PutEventsCommand({ Entries: left.map((event) => toEntry(event, busName)) }),
    );
    const refused = answer.Entries ?? [];
    left = (answer.FailedEntryCount ?? 0) === 0 ? [] : left.filter((_, index) => refused[index]?.ErrorCode);
    if (left.length > 0 && attempt === triesMax) {
      throw new Error(
        `the event bus refused ${left.length} events: ${refused.find((one) => one.ErrorCode)?.ErrorCode}`,
      );
    }
  }
}

function toEntry(event: BusEvent, busName: string): object {
  return {
    EventBusName: busName,
    Source: eventSource,
    DetailType: event.type,
    Time: new Date(event.atMs),
    Detail: JSON.stringify(event.detail),
  };
}
