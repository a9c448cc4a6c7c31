import { hintPath } from '#agents/agent-connections.ts';
import { bindHintPort } from '#agents/sessions/hint-port.ts';
import type { Clock } from '#core/clock.ts';
import type { Logger } from '#core/logger.ts';
import { agentRoutes } from '#functions/agent-routes.ts';
import { operatorRoutes } from '#functions/operator-routes.ts';
import { queues } from '#functions/queues.ts';
import { routes } from '#functions/routes.ts';
import { schedules } from '#functions/schedules.ts';
import { closeServices } from '#infra/server/close-services.ts';
import { type FrontDoorFiles, loadFrontDoorAccess } from '#infra/server/front-door/front-door-access.ts';
import type { UpgradeRoute } from '#infra/server/front-door/http-upgrade.ts';
import { createAgentFinder } from '#infra/server/front-door/proved-agents.ts';
import { toEventSources } from '#infra/server/functions/event-sources.ts';
import { bindHandlers, loadHandler } from '#infra/server/functions/handlers.ts';
import { Invoker, type LoadHandler } from '#infra/server/functions/invoker.ts';
import { HintConnections } from '#infra/server/hints/hint-connections.ts';
import { createHintRoute } from '#infra/server/hints/hint-route.ts';
import { callOwnRoute } from '#infra/server/own-call.ts';
import { type Inventory, serveFunctions } from '#infra/server/served-functions.ts';
import { tables } from '#platform/aws/tables.ts';
import { areRequestsVerbose, readEnvironment } from '#platform/config.ts';
import { createLogger } from '#platform/services/logger.ts';
import { openMeter } from '#platform/services/meter.ts';
import { Services } from '#platform/services/services.ts';
import { openStoreClock } from '#platform/services/store-clock.ts';
import { systemClock } from '#platform/services/system.ts';
import { voidLeases } from '#tasks/services/void-leases.ts';
import { findUnknownPathRoute } from '#upstream/services/unknown-paths.ts';
import type { CliOptions } from './cli-options.ts';
import { watchClocks } from './clock-watch.ts';
import { lockDataDir } from './data-dir-lock.ts';
import { checkDataFormat } from './data-format.ts';
import { toQueueUrl } from './engines/sqs/queue-engine.ts';
import { type FunctionSettings, toFunctionEnvironment } from './environment.ts';
import { type LocalEngines, startLocalEngines } from './local-engines.ts';
import { findStorageObstacle, tellOfStorage } from './storage-message.ts';
import { startTableExpiry } from './table-expiry.ts';
import { tellOfUnusedVariables } from './unused-variables.ts';

/** Name of the event bus. */
const busName = 'busdriver';

/** How to start the local runtime. */
export interface StartRuntimeOptions
  extends FunctionSettings,
    FrontDoorFiles,
    Pick<CliOptions, 'host' | 'port' | 'allowedHosts' | 'dataDir'>,
    Partial<Pick<CliOptions, 'metricsPort'>> {
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
  /** Where metrics are shown; undefined where they are not. */
  readonly metricsUrl: string | undefined;
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
      meter: openMeter(services),
      metricsPort: options.metricsPort,
      http: {
        ...options,
        logsRequests: areRequestsVerbose(),
        access: frontDoor,
        upgrades,
        findAgent: createAgentFinder(services),
        findObstacle: () => findStorageObstacle(database),
        findUnknownRoute: (method) => findUnknownPathRoute(services, method),
      },
    }),
  );
  engines.eventbridge.on('event', (event) => served.tell(String(event['detail-type'])));
  const running = starting.move();
  return {
    url: served.url,
    metricsUrl: served.metricsUrl,
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
