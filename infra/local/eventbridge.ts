import type { JsonObject } from '../../shared/core/json.ts';
import { AwsError } from './engines/engine.ts';
import { getObjects } from './aws-json-input.ts';
import { type AwsJsonServer, startAwsJsonServer } from './aws-json-server.ts';
import type { EngineAccess } from './engine-access.ts';
import { EventArchive } from './event-archive.ts';
import { type BusEvent, getBusName, measureEntry, toBusEvent } from './eventbridge-bus.ts';

/** AWS' limit of all entries of one PutEvents. */
const maximumPutBytes = 1 << 20;

/** Entries of one PutEvents. */
const maximumEntries = 10;

/** Events that `GET /events` can show. */
export const archivedEvents = 1000;

/** How to start EventBridge. */
export interface StartEventBridgeOptions {
  /** Buses that there are. */
  readonly buses: readonly string[];
  /** Is told of each event that was put, and on which bus. */
  readonly onEvent?: (event: BusEvent, busName: string) => void;
  /** Who may call it. */
  readonly access: EngineAccess;
}

interface Service extends StartEventBridgeOptions {
  readonly archive: EventArchive;
}

/**
 * Starts EventBridge on a free port of 127.0.0.1, as far as Busdriver calls it: PutEvents over AWS' JSON protocol, without rules.
 * `GET /events` on the same port answers the latest events, `?since=N` those after sequence number N. Nothing outlives the process.
 */
export async function startEventBridge(options: StartEventBridgeOptions): Promise<AwsJsonServer> {
  const service: Service = { ...options, archive: new EventArchive(archivedEvents) };
  return startAwsJsonServer(options.access, () => ({
    target: 'AWSEvents',
    signingName: 'events',
    version: '1.1',
    errorNamespace: 'com.amazonaws.eventbridge',
    actions: { PutEvents: (input) => putEvents(service, input) },
    pages: { '/events': (query) => ({ events: service.archive.list(Number(query.get('since') ?? 0)) }) },
  }));
}

function putEvents(service: Service, input: JsonObject): object {
  const entries = getObjects(input, 'Entries');
  if (entries.length === 0 || entries.length > maximumEntries) {
    throw new AwsError(
      'ValidationException',
      `Value at 'entries' failed to satisfy constraint: Member must have length from 1 to ${maximumEntries}`,
    );
  }
  if (entries.reduce((sum, entry) => sum + measureEntry(entry), 0) > maximumPutBytes) {
    throw new AwsError('ValidationException', 'Total size of the entries in the request is over the limit.');
  }
  const results = entries.map((entry) => putEvent(service, entry));
  return { FailedEntryCount: results.filter((result) => 'ErrorCode' in result).length, Entries: results };
}

function putEvent({ buses, archive, onEvent }: Service, entry: JsonObject): object {
  try {
    const event = toBusEvent(entry, Date.now());
    const busName = getBusName(entry, 'EventBusName');
    if (!buses.includes(busName)) {
      throw new AwsError('ResourceNotFoundException', `Event bus ${busName} does not exist.`);
    }
    archive.add(busName, event);
    onEvent?.(event, busName);
    return { EventId: event.id };
  } catch (error) {
    if (error instanceof AwsError) return { ErrorCode: error.code, ErrorMessage: error.message };
    throw error;
  }
}
