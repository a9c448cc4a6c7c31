import { agentRoutes } from '../../functions/agent-routes.ts';
import { operatorRoutes } from '../../functions/operator-routes.ts';
import { queues } from '../../functions/queues.ts';
import { routes } from '../../functions/routes.ts';
import { schedules } from '../../functions/schedules.ts';
import { tables } from '../../shared/aws/tables.ts';
import type { Clock } from '../../shared/core/clock.ts';
import type { Logger } from '../../shared/core/logger.ts';
import { hintPath } from '../../shared/core/tasks/agent-connections.ts';
import { areRequestsVerbose, type EngineCredentials, readEnvironment } from '../../shared/runtime/config.ts';
import type { DirectServices } from '../../shared/runtime/services/direct-client.ts';
import { bindHintPort } from '../../shared/runtime/services/hint-port.ts';
import { createLogger } from '../../shared/runtime/services/logger.ts';
import { Services } from '../../shared/runtime/services/services.ts';
import { systemClock } from '../../shared/runtime/services/system.ts';
import { AwsEventRules, awsBusName } from './aws-events.ts';
import type { AwsJsonServer } from './aws-json-server.ts';
import { closeServices } from './close-services.ts';
import { lockDataDir } from './data-dir-lock.ts';
import { checkDataFormat } from './data-format.ts';
import { startDynamoDb } from './dynamodb.ts';
import { EngineAccess } from './engine-access.ts';
import { writeEngineFile } from './engine-file.ts';
import type { Database } from './engines/dynamodb/database.ts';
import { type Engines, type FunctionSettings, toFunctionEnvironment } from './environment.ts';
import { createQueues, toEventSources } from './event-sources.ts';
import { startEventBridge } from './eventbridge.ts';
import type { BusEvent } from './eventbridge-bus.ts';
import { type FrontDoorFiles, loadFrontDoorAccess } from './front-door-access.ts';
import { bindHandlers, loadHandler } from './handlers.ts';
import { HintConnections } from './hint-connections.ts';
import { createHintRoute } from './hint-route.ts';
import type { UpgradeRoute } from './http-upgrade.ts';
import { Invoker, type LoadHandler } from './invoker.ts';
import { callOwnRoute } from './own-call.ts';
import { createAgentFinder } from './proved-agents.ts';
import { type Inventory, type ServedFunctions, serveFunctions } from './served-functions.ts';
import { startSqs } from './sqs.ts';
import { findStorageObstacle, tellOfStorage } from './storage-message.ts';
import { startTableExpiry } from './table-expiry.ts';
import { tellOfUnusedVariables } from './unused-variables.ts';

/** Name of the event bus. */
const busName = 'busdriver';

/** How to start the local runtime. */
export interface StartRuntimeOptions extends FunctionSettings, FrontDoorFiles {
  /** Name or address to bind. */
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Further names that may stand in a request's `Host`. */
  readonly allowedHosts: readonly string[];
  /** Folder of all data; made when missing. */
  readonly dataDir: string;
  /** Milliseconds that invocations under way get when the runtime stops. */
  readonly shutdownTimeoutMs: number;
  /** Default: Busdriver's own tables of functions. */
  readonly inventory?: Inventory;
  /** Loads functions; default from `functions/`. */
  readonly load?: LoadHandler;
  /** Turns the schedules; default the machine's. */
  readonly clock?: Clock;
}

/** The running system. Disposing stops taking requests, lets invocations end, and stops the engines. */
export interface Runtime extends AsyncDisposable {
  /** Where the API answers, for example `http://127.0.0.1:7002`. */
  readonly url: string;
  readonly engines: Engines;
  /** What its functions work with. */
  readonly services: Services;
  /** What callers of the engines sign with. */
  readonly credentials: EngineCredentials;
  /** Answers a GET of a path without parameters, asking for no token and no certificate. @throws Error when it fails */
  get(path: string): Promise<unknown>;
}

/**
 * Runs every function in this process, on DynamoDB, SQS and EventBridge served on free ports of 127.0.0.1. Functions
 * find them by environment variables, as in Lambda; but these are the runtime's own, so a process can hold several runtimes. Killed
 * at any moment, the next one on the same folder goes on with what was accepted.
 *
 * @throws DataDirInUseError; DataFormatError; AccessFileError; Error when the port cannot be bound
 */
export async function startRuntime(options: StartRuntimeOptions): Promise<Runtime> {
  const {
    inventory = { routes: [...routes, ...agentRoutes, ...operatorRoutes], queues, schedules, tables },
    load = loadHandler,
    clock = systemClock,
  } = options;
  await using starting = new AsyncDisposableStack();
  starting.use(await lockDataDir(options.dataDir));
  await checkDataFormat(options.dataDir);
  const log = createLogger({ logLevel: options.logLevel, placement: 'local' });
  tellOfUnusedVariables(readEnvironment(), log);
  const { promise: opened, resolve: setServices } = Promise.withResolvers<Services>();
  const invoker = new Invoker(bindHandlers(load, opened), log);
  const frontDoor = await loadFrontDoorAccess(options, log);
  const access = new EngineAccess({ log });
  const { credentials } = access;
  // Closed after the engines: what still runs then must not write down that it failed, and goes on after the next start.
  const closing = starting.use(new AsyncDisposableStack());
  const events: EventListener = {};
  const { engines, storage, servers } = await startEngines({ options, inventory, access, events, log }, starting);
  tellOfStorage(storage, { dataDir: options.dataDir, log });
  starting.use(await writeEngineFile(options.dataDir, { engines, credentials }));
  const { dataDir } = options;
  const parts = { settings: options, dataDir, engines, credentials, busName, ...inventory };
  const environment = { ...readEnvironment(), ...toFunctionEnvironment(parts) };
  const services = new Services(environment, toDirectServices(servers));
  closing.defer(() => closeServices(services, log));
  setServices(services);
  const upgrades = openHintRoute(services, log);
  const sqs = servers.sqs.toOwnClientOptions();
  const dynamodb = servers.dynamodb.toOwnClientOptions();
  starting.use(startTableExpiry({ tables: inventory.tables, dynamodb, clock, log }));
  const served = starting.use(
    await serveFunctions({
      ...{ inventory, invoker, sqs, clock, log, shutdownTimeoutMs: options.shutdownTimeoutMs },
      sources: toEventSources(inventory.queues),
      http: {
        ...options,
        logsRequests: areRequestsVerbose(),
        access: frontDoor,
        upgrades,
        findAgent: createAgentFinder(services),
        findObstacle: () => findStorageObstacle(storage),
      },
    }),
  );
  const rules = starting.use(new AwsEventRules({ queues: inventory.queues, sqs, log }));
  events.onEvent = (event, name) => passOn(event, name, { scheduler: served, rules });
  const running = starting.move();
  return {
    url: served.url,
    engines,
    services,
    credentials,
    get: (path) => callOwnRoute(path, { routes: inventory.routes, invoker }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Agents connect to this process, where each function is that tells them. */
function openHintRoute(services: Services, log: Logger): UpgradeRoute {
  const connections = new HintConnections();
  bindHintPort(services, { url: hintPath, deliver: (hint) => connections.deliver(hint) });
  return createHintRoute({ services, connections, log });
}

function passOn(
  event: BusEvent,
  name: string,
  to: { readonly scheduler: ServedFunctions; readonly rules: AwsEventRules },
): void {
  to.scheduler.tell(String(event['detail-type']));
  to.rules.take(event, name);
}

/** Who is told of events: it starts after the bus. */
interface EventListener {
  onEvent?: (event: BusEvent, busName: string) => void;
}

interface RuntimeParts {
  readonly events: EventListener;
  readonly options: StartRuntimeOptions;
  readonly inventory: Inventory;
  readonly access: EngineAccess;
  readonly log: Logger;
}

async function startEngines(
  { options, inventory, access, events, log }: RuntimeParts,
  stack: AsyncDisposableStack,
): Promise<{
  readonly engines: Engines;
  readonly storage: Database;
  readonly servers: { readonly [engine in keyof Engines]: AwsJsonServer };
}> {
  const { dataDir: dir } = options;
  const starts = [startDynamoDb({ dir, tables: inventory.tables, access, log }), startSqs(access)] as const;
  const [dynamodb, sqs] = await Promise.all(starts);
  stack.use(dynamodb);
  stack.use(sqs);
  await createQueues(sqs.clientOptions, inventory.queues);
  const eventbridge = await startEventBridge({
    buses: [busName, awsBusName],
    access,
    onEvent: (event, name) => events.onEvent?.(event, name),
  });
  stack.use(eventbridge);
  const engines = { dynamodb: dynamodb.url, sqs: sqs.url, eventbridge: eventbridge.url };
  return { engines, storage: dynamodb.storage, servers: { dynamodb, sqs, eventbridge } };
}

/** Functions are loaded into this process, and so need no socket: the engines' ports are for tools. */
function toDirectServices(servers: { readonly [engine in keyof Engines]: AwsJsonServer }): DirectServices {
  return {
    dynamodb: (tryMs) => servers.dynamodb.toOwnClientOptions(tryMs),
    sqs: (tryMs) => servers.sqs.toOwnClientOptions(tryMs),
    eventbridge: (tryMs) => servers.eventbridge.toOwnClientOptions(tryMs),
  };
}
