import { agentRoutes } from '../../functions/agent-routes.ts';
import { operatorRoutes } from '../../functions/operator-routes.ts';
import { queues } from '../../functions/queues.ts';
import { routes } from '../../functions/routes.ts';
import { schedules } from '../../functions/schedules.ts';
import { tables } from '../../shared/aws/tables.ts';
import type { Clock } from '../../shared/core/clock.ts';
import type { Logger } from '../../shared/core/logger.ts';
import { hintPath } from '../../shared/core/tasks/agent-connections.ts';
import { areRequestsVerbose, readEnvironment } from '../../shared/runtime/config.ts';
import { bindHintPort } from '../../shared/runtime/services/hint-port.ts';
import { createLogger } from '../../shared/runtime/services/logger.ts';
import { Services } from '../../shared/runtime/services/services.ts';
import { openStoreClock } from '../../shared/runtime/services/store-clock.ts';
import { systemClock } from '../../shared/runtime/services/system.ts';
import { voidLeases } from '../../shared/runtime/services/void-leases.ts';
import { watchClocks } from './clock-watch.ts';
import { closeServices } from './close-services.ts';
import { lockDataDir } from './data-dir-lock.ts';
import { checkDataFormat } from './data-format.ts';
import { type LocalEngines, startLocalEngines } from './engines/local-engines.ts';
import { toQueueUrl } from './engines/sqs/queue-engine.ts';
import { type FunctionSettings, toFunctionEnvironment } from './environment.ts';
import { toEventSources } from './event-sources.ts';
import { type FrontDoorFiles, loadFrontDoorAccess } from './front-door-access.ts';
import { bindHandlers, loadHandler } from './handlers.ts';
import { HintConnections } from './hint-connections.ts';
import { createHintRoute } from './hint-route.ts';
import type { UpgradeRoute } from './http-upgrade.ts';
import { Invoker, type LoadHandler } from './invoker.ts';
import { callOwnRoute } from './own-call.ts';
import { createAgentFinder } from './proved-agents.ts';
import { type Inventory, serveFunctions } from './served-functions.ts';
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
  readonly engines: LocalEngines;
  /** What its functions work with. */
  readonly services: Services;
  /** Answers a GET of a path without parameters, asking for no token and no certificate. @throws Error when it fails */
  get(path: string): Promise<unknown>;
}

/**
 * Runs every function in this process, on a DynamoDB, an SQS and an EventBridge of this process that functions call directly. They find names of
 * their resources by environment variables, as in Lambda; but these are the runtime's own, so a process can hold several runtimes. Killed
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
  // Closed after the engines: what still runs then must not write down that it failed, and goes on after the next start.
  const closing = starting.use(new AsyncDisposableStack());
  const { dataDir } = options;
  const engines = starting.use(await startLocalEngines({ ...inventory, dataDir, busName, log }));
  const { clients } = engines;
  const { database } = engines.dynamodb;
  tellOfStorage(database, { dataDir, log });
  const environment = {
    ...readEnvironment(),
    ...toFunctionEnvironment({ ...inventory, settings: options, dataDir, busName }),
  };
  const services = new Services(environment, clients);
  closing.defer(() => closeServices(services, log));
  setServices(services);
  await voidLeases(services, log);
  starting.use(watchClocks(openStoreClock(services), log));
  const upgrades = openHintRoute(services, log);
  starting.use(startTableExpiry({ tables: inventory.tables, dynamodb: clients.dynamodb, clock, log }));
  const served = starting.use(
    await serveFunctions({
      ...{ inventory, invoker, sqs: clients.sqs, clock, log, shutdownTimeoutMs: options.shutdownTimeoutMs },
      sources: toEventSources(inventory.queues, toQueueUrl),
      http: {
        ...options,
        logsRequests: areRequestsVerbose(),
        access: frontDoor,
        upgrades,
        findAgent: createAgentFinder(services),
        findObstacle: () => findStorageObstacle(database),
      },
    }),
  );
  engines.eventbridge.on('event', (event) => served.tell(String(event['detail-type'])));
  const running = starting.move();
  return {
    url: served.url,
    engines,
    services,
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
