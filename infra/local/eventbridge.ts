import { getErrorMessage } from '../../shared/core/errors.ts';
import type { JsonObject } from '../../shared/core/json.ts';
import type { Logger } from '../../shared/core/logger.ts';
import { AwsError } from './aws-json-error.ts';
import { findText, getObjects, getText, getTexts } from './aws-json-input.ts';
import { type AwsAction, type AwsJsonServer, startAwsJsonServer } from './aws-json-server.ts';
import type { EngineAccess } from './engine-access.ts';
import { EventArchive } from './event-archive.ts';
import {
  type BusEvent,
  type EventBus,
  getBusName,
  getResourceName,
  makeBus,
  measureEntry,
  type Rule,
  toBusEvent,
} from './eventbridge-bus.ts';
import { compilePattern } from './eventbridge-pattern.ts';

/** AWS' limit of all entries of one PutEvents. */
const maximumPutBytes = 1 << 20;

/** Entries of one PutEvents. */
const maximumEntries = 10;

/** Events that `GET /events` can show. */
const archivedEvents = 1000;

/** How to start EventBridge. */
export interface StartEventBridgeOptions {
  /** Buses that exist from the start, besides `default`. */
  readonly buses: readonly string[];
  /** Hands an event to a target, a function or a queue by ARN. */
  readonly deliver: (targetArn: string, event: BusEvent) => Promise<void>;
  readonly log: Logger;
  /** Who may call it. */
  readonly access: EngineAccess;
}

interface Service extends StartEventBridgeOptions {
  readonly busesByName: Map<string, EventBus>;
  readonly archive: EventArchive;
}

/**
 * Starts EventBridge on a free port of 127.0.0.1: buses, rules with event patterns and their targets, over AWS' JSON
 * protocol. Each event is delivered once to each target whose rule matches; a failure is logged. `GET /events` on the
 * same port answers the latest events, `?since=N` those after sequence number N. Nothing outlives the process.
 */
export async function startEventBridge(options: StartEventBridgeOptions): Promise<AwsJsonServer> {
  const names = ['default', ...options.buses];
  const service: Service = {
    ...options,
    busesByName: new Map(names.map((name) => [name, makeBus(name)])),
    archive: new EventArchive(archivedEvents),
  };
  return startAwsJsonServer(options.access, () => ({
    target: 'AWSEvents',
    signingName: 'events',
    version: '1.1',
    errorNamespace: 'com.amazonaws.eventbridge',
    actions: makeActions(service),
    pages: { '/events': (query) => ({ events: service.archive.list(Number(query.get('since') ?? 0)) }) },
  }));
}

function makeActions(service: Service): { [name: string]: AwsAction } {
  const onBus =
    (act: (bus: EventBus, input: JsonObject) => object): AwsAction =>
    (input) =>
      act(getBus(service, getBusName(input, 'EventBusName')), input);
  const onRule =
    (member: string, act: (rule: Rule, input: JsonObject) => object): AwsAction =>
    (input) => {
      const bus = getBus(service, getBusName(input, 'EventBusName'));
      return act(getRule(bus, getText(input, member)), input);
    };
  return {
    CreateEventBus: (input) => createEventBus(service, input),
    DescribeEventBus: (input) => describeEventBus(service, input),
    PutEvents: (input) => putEvents(service, input),
    PutRule: onBus(putRule),
    DeleteRule: onBus((bus, input) => {
      bus.rules.delete(getText(input, 'Name'));
      return {};
    }),
    ListRules: onBus(listRules),
    PutTargets: onRule('Rule', putTargets),
    RemoveTargets: onRule('Rule', (rule, input) => {
      for (const id of getTexts(input, 'Ids')) rule.targets.delete(id);
      return { FailedEntryCount: 0, FailedEntries: [] };
    }),
    ListTargetsByRule: onRule('Rule', (rule) => ({
      Targets: [...rule.targets].map(([Id, Arn]) => ({ Id, Arn })),
    })),
  };
}

function createEventBus(service: Service, input: JsonObject): object {
  const name = getResourceName(input, 'Name');
  if (service.busesByName.has(name)) {
    throw new AwsError('ResourceAlreadyExistsException', `Event bus ${name} already exists.`);
  }
  const bus = makeBus(name);
  service.busesByName.set(name, bus);
  return { EventBusArn: bus.arn };
}

function describeEventBus(service: Service, input: JsonObject): object {
  const { name, arn } = getBus(service, getBusName(input, 'Name'));
  return { Name: name, Arn: arn };
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

function putEvent(service: Service, entry: JsonObject): object {
  try {
    const event = toBusEvent(entry, Date.now());
    const bus = getBus(service, getBusName(entry, 'EventBusName'));
    service.archive.add(bus.name, event);
    for (const arn of findTargets(bus, event)) void deliver(service, arn, event);
    return { EventId: event.id };
  } catch (error) {
    if (error instanceof AwsError) return { ErrorCode: error.code, ErrorMessage: error.message };
    throw error;
  }
}

function findTargets(bus: EventBus, event: BusEvent): readonly string[] {
  const rules = [...bus.rules.values()].filter(({ isEnabled, matches }) => isEnabled && matches(event));
  return rules.flatMap(({ targets }) => [...targets.values()]);
}

async function deliver({ deliver: hand, log }: Service, targetArn: string, event: BusEvent): Promise<void> {
  try {
    await hand(targetArn, event);
  } catch (error) {
    log.error('an event was not delivered', {
      target: targetArn,
      event: event.id,
      error: getErrorMessage(error),
    });
  }
}

function putRule(bus: EventBus, input: JsonObject): object {
  const name = getResourceName(input, 'Name');
  const pattern = getText(input, 'EventPattern');
  const arn = bus.name === 'default' ? `rule/${name}` : `rule/${bus.name}/${name}`;
  const rule: Rule = {
    name,
    arn: bus.arn.replace(/event-bus\/.*$/, arn),
    pattern,
    matches: compilePattern(pattern),
    isEnabled: findText(input, 'State') !== 'DISABLED',
    targets: bus.rules.get(name)?.targets ?? new Map(),
  };
  bus.rules.set(name, rule);
  return { RuleArn: rule.arn };
}

function listRules(bus: EventBus, input: JsonObject): object {
  const prefix = findText(input, 'NamePrefix') ?? '';
  const rules = [...bus.rules.values()].filter(({ name }) => name.startsWith(prefix));
  return {
    Rules: rules.map(({ name, arn, pattern, isEnabled }) => ({
      Name: name,
      Arn: arn,
      EventPattern: pattern,
      State: isEnabled ? 'ENABLED' : 'DISABLED',
      EventBusName: bus.name,
    })),
  };
}

function putTargets(rule: Rule, input: JsonObject): object {
  for (const target of getObjects(input, 'Targets'))
    rule.targets.set(getText(target, 'Id'), getText(target, 'Arn'));
  return { FailedEntryCount: 0, FailedEntries: [] };
}

function getBus(service: Service, name: string): EventBus {
  const bus = service.busesByName.get(name);
  if (bus === undefined) throw new AwsError('ResourceNotFoundException', `Event bus ${name} does not exist.`);
  return bus;
}

function getRule(bus: EventBus, name: string): Rule {
  const rule = bus.rules.get(name);
  if (rule === undefined) {
    throw new AwsError('ResourceNotFoundException', `Rule ${name} does not exist on EventBus ${bus.name}.`);
  }
  return rule;
}
