import { EventEmitter } from 'node:events';
import type { JsonObject } from '#core/json.ts';
import { systemClock } from '#platform/services/system.ts';
import { AwsError, type Engine, findAction } from '../engine.ts';
import { getObjects } from '../engine-input.ts';
import { type BusEvent, getBusName, measureEntry, toBusEvent } from './bus-events.ts';

/** AWS' limit of all entries of one PutEvents. */
const putBytesMax = 1 << 20;

/** Entries of one PutEvents. */
const entriesMax = 10;

/** Receives each event that was put, and its bus. */
interface BusEvents {
  event: [event: BusEvent, busName: string];
}

/** The part of EventBridge that Busdriver calls: PutEvents, without rules. It stores nothing, and passes events to its listeners. */
export class BusEngine extends EventEmitter<BusEvents> implements Engine {
  readonly #buses: readonly string[];
  readonly #actions: { readonly [name: string]: (input: JsonObject) => object } = {
    PutEvents: (input) => this.#putEvents(input),
  };

  /** @param buses names of those there are */
  constructor(buses: readonly string[]) {
    super();
    this.#buses = buses;
  }

  async perform(action: string, input: object): Promise<object> {
    // What commands hold is what their requests have as JSON, times aside.
    return findAction(this.#actions, action)(input as JsonObject);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.removeAllListeners();
  }

  #putEvents(input: JsonObject): object {
    const entries = getObjects(input, 'Entries');
    if (entries.length === 0 || entries.length > entriesMax) {
      throw new AwsError(
        'ValidationException',
        `Value at 'entries' failed to satisfy constraint: Member must have length from 1 to ${entriesMax}`,
      );
    }
    if (entries.reduce((sum, entry) => sum + measureEntry(entry), 0) > putBytesMax) {
      throw new AwsError(
        'ValidationException',
        'Total size of the entries in the request is over the limit.',
      );
    }
    const results = entries.map((entry) => this.#putEvent(entry));
    return { FailedEntryCount: results.filter((result) => 'ErrorCode' in result).length, Entries: results };
  }

  #putEvent(entry: JsonObject): object {
    try {
      const event = toBusEvent(entry, systemClock.now());
      const busName = getBusName(entry, 'EventBusName');
      if (!this.#buses.includes(busName)) {
        throw new AwsError('ResourceNotFoundException', `Event bus ${busName} does not exist.`);
      }
      this.emit('event', event, busName);
      return { EventId: event.id };
    } catch (error) {
      if (error instanceof AwsError) return { ErrorCode: error.code, ErrorMessage: error.message };
      throw error;
    }
  }
}
