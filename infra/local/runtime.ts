import path from 'node:path';
import { type Queue, queues } from '../../functions/queues.ts';
import { type Route, routes } from '../../functions/routes.ts';
import { type Schedule, schedules } from '../../functions/schedules.ts';
import { type Table, tables } from '../../shared/aws/tables.ts';
import type { Clock } from '../../shared/core/clock.ts';
import type { Logger } from '../../shared/core/logger.ts';
import { type EngineCredentials, setEnvironment } from '../../shared/runtime/config.ts';
import { createLogger } from '../../shared/runtime/context/logger.ts';
import { systemClock } from '../../shared/runtime/context/system.ts';
import { lockDataDir } from './data-dir-lock.ts';
import { checkDataFormat } from './data-format.ts';
import { startDynamoDb } from './dynamodb.ts';
import { EngineAccess } from './engine-access.ts';
import { writeEngineFile } from './engine-file.ts';
import { type Engines, type FunctionSettings, toFunctionEnvironment } from './environment.ts';
import { createQueues, toEventSources } from './event-sources.ts';
import { startEventBridge } from './eventbridge.ts';
import { type FrontDoorFiles, loadFrontDoorAccess } from './front-door-access.ts';
import { loadHandler } from './handlers.ts';
import { startHttp } from './http.ts';
import { Invoker, type LoadHandler, toFunctionArn } from './invoker.ts';
import type { LevelStorage } from './level-storage.ts';
import { callOwnRoute } from './own-call.ts';
import { offerResponseStreaming } from './response-streaming.ts';
import { startScheduler } from './scheduler.ts';
import { type SqsServer, startSqs } from './sqs.ts';
import { findStorageObstacle, tellOfStorage } from './storage-message.ts';
import { startTableExpiry } from './table-expiry.ts';
import { startWorkers } from './workers.ts';

/** Name of the event bus. */
const busName = 'busdriver';

/** The functions and what they need: what CDK deploys, this runs. */
export interface Inventory {
  readonly routes: readonly Route[];
  readonly queues: readonly Queue[];
  readonly schedules: readonly Schedule[];
  readonly tables: readonly Table[];
}

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
  readonly drainTimeoutMs: number;
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
  /** What callers of the engines sign with. */
  readonly credentials: EngineCredentials;
  /** Answers a GET of a path without parameters, asking for no token and no certificate. @throws Error when it fails */
  get(path: string): Promise<unknown>;
}

/**
 * Runs every function in this process, on DynamoDB, SQS and EventBridge served on free ports of 127.0.0.1. Functions
 * find them by environment variables, as in Lambda, so a process can hold one runtime at a time. Killed at any
 * moment, the next one on the same folder goes on with what was accepted.
 *
 * @throws DataDirInUseError; DataFormatError; AccessFileError; Error when the port cannot be bound
 */
export async function startRuntime(options: StartRuntimeOptions): Promise<Runtime> {
  const {
    inventory = { routes, queues, schedules, tables },
    load = loadHandler,
    clock = systemClock,
  } = options;
  await using starting = new AsyncDisposableStack();
  starting.use(await lockDataDir(options.dataDir));
  await checkDataFormat(options.dataDir);
  const log = createLogger({ logLevel: options.logLevel, placement: 'local' });
  const invoker = new Invoker(load, log);
  const frontDoor = await loadFrontDoorAccess(options, log);
  const access = new EngineAccess({ log });
  const { credentials } = access;
  const { engines, storage } = await startEngines({ options, inventory, invoker, log, access }, starting);
  tellOfStorage(storage, { dataDir: options.dataDir, log });
  starting.use(await writeEngineFile(options.dataDir, { engines, credentials }));
  const parts = { settings: options, engines, credentials, busName, ...inventory };
  setEnvironment(toFunctionEnvironment(parts));
  offerResponseStreaming();
  // Disposed of in reverse order: first nothing new is taken, then what runs may end, then connections are cut.
  const findObstacle = () => findStorageObstacle(storage);
  const http = await startHttp({
    ...options,
    routes: inventory.routes,
    invoker,
    log,
    access: frontDoor,
    findObstacle,
  });
  starting.use(http);
  starting.defer(async () => {
    await invoker.drain(options.drainTimeoutMs);
  });
  starting.use(
    startWorkers({
      sources: toEventSources(inventory.queues),
      sqs: access.toClientOptions(engines.sqs),
      invoker,
      log,
    }),
  );
  const dynamodb = access.toClientOptions(engines.dynamodb);
  starting.use(startTableExpiry({ tables: inventory.tables, dynamodb, clock, log }));
  starting.use(startScheduler({ schedules: inventory.schedules, invoker, clock }));
  starting.defer(() => http.stopAccepting());
  void invoker.preload(listModules(inventory));
  const running = starting.move();
  return {
    url: http.url,
    engines,
    credentials,
    get: (path) => callOwnRoute(path, { routes: inventory.routes, invoker }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

interface Surroundings {
  readonly options: StartRuntimeOptions;
  readonly inventory: Inventory;
  readonly invoker: Invoker;
  readonly log: Logger;
  readonly access: EngineAccess;
}

async function startEngines(
  { options, inventory, invoker, log, access }: Surroundings,
  stack: AsyncDisposableStack,
): Promise<{ readonly engines: Engines; readonly storage: LevelStorage }> {
  const dir = path.join(options.dataDir, 'dynamodb');
  const starts = [startDynamoDb({ dir, tables: inventory.tables, access }), startSqs(access)] as const;
  const [dynamodb, sqs] = await Promise.all(starts);
  stack.use(dynamodb);
  stack.use(sqs);
  await createQueues(sqs.clientOptions, inventory.queues);
  const functions = new Map(toFunctions(inventory).map((one) => [toFunctionArn(getName(one.module)), one]));
  const eventbridge = await startEventBridge({
    buses: [busName],
    log,
    access,
    async deliver(targetArn, event) {
      const target = functions.get(targetArn);
      if (target === undefined) deliverToQueue(sqs, targetArn, event);
      else await invoker.invoke({ ...target, event });
    },
  });
  stack.use(eventbridge);
  const engines = { dynamodb: dynamodb.url, sqs: sqs.url, eventbridge: eventbridge.url };
  return { engines, storage: dynamodb.storage };
}

function deliverToQueue(sqs: SqsServer, arn: string, event: object): void {
  sqs.sendTo(arn, JSON.stringify(event));
}

function toFunctions({
  queues,
  schedules,
}: Inventory): readonly { module: string; timeoutSeconds: number }[] {
  return [...queues, ...schedules];
}

function getName(module: string): string {
  return module.slice(module.lastIndexOf('/') + 1);
}

/** Modules of all functions, those first that a deploy waits for. */
function listModules({ routes, queues, schedules }: Inventory): readonly string[] {
  return [...routes.filter(({ method }) => method === 'POST'), ...queues, ...routes, ...schedules].map(
    ({ module }) => module,
  );
}
