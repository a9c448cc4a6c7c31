import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { queues } from '#functions/queues.ts';
import type { BusEvent } from '#infra/local/engines/eventbridge/bus-events.ts';
import { toFunctionEnvironment } from '#infra/local/environment.ts';
import { tables, tasksTable } from '#platform/aws/tables.ts';
import { planFaults } from '#test/acceptance/tasks/faults/fault-plan.ts';
import { type Fault, type ProxiedCall, startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, type TestCluster } from '#test/support/cluster/cluster.ts';
import type { Stores } from '#test/support/engines/stores.ts';
import { createRandom, drawInteger } from '#test/support/run/seeded-random.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { PartitionCapacity } from './capacity.ts';
import type { EngineService } from './engine-call.ts';
import { type EngineFaults, fillPrefix } from './engine-faults.ts';
import { startEngineProxy } from './engine-proxy.ts';
import type { EnginesMessage } from './engines-main.ts';
import { Fleet } from './fleet.ts';
import { type Lapse, processCount } from './plan.ts';
import { type LabProcess, startLabProcess } from './processes.ts';

const busName = 'busdriver';

/** Share of the calls of the API server that fail, from 0 to 1. */
const clusterFaultShare = 0.03;

/** Milliseconds that the API server takes longer, so that operations are under way when a process dies. */
const clusterDelayMs = { least: 5, most: 120 };

/** How long a process that is to die after a write may write nothing, milliseconds. */
const ambushMs = 5_000;

/** What everything runs in. Disposing ends all of it. */
export interface LabEnvironment extends AsyncDisposable {
  readonly namespace: string;
  /** Those that are cached. Operations name the first. */
  readonly accounts: readonly string[];
  /** Has another account come, whose first fill is refused half of its writes. */
  addAccount(): Promise<void>;
  /** Has the credentials of all accounts end: the API server refuses them, then there are none, and at last there are others. */
  lapse(lapse: Lapse): Promise<void>;
  listClusterCalls(): readonly ProxiedCall[];
  /**
   * Resolves once the API server has done something that a process asked for, of which that process will not learn, or after some
   * seconds in which it asked for nothing.
   */
  awaitWrite(process: number): Promise<void>;
  readonly fleet: Fleet;
  /** The engines themselves, without the proxy. */
  readonly stores: Stores;
  /** Everything that the bus delivered, oldest first. */
  readonly events: readonly BusEvent[];
  /** Lets calls of the API server fail from now on, or not. */
  setClusterFaults(areOn: boolean): void;
  /** How often what went wrong on the way to the API server. */
  readonly clusterFaults: { readonly [type: string]: number };
  readonly logDir: string;
  /** Texts that no log may show: what opens the engines and the cluster. */
  readonly credentials: readonly string[];
}

export interface LabEnvironmentOptions {
  readonly cluster: TestCluster;
  readonly seed: number;
  readonly scheduleSeconds: number;
  readonly faults: EngineFaults;
}

/** Starts the engines behind their proxy, a proxy in front of the API server, and the processes that run functions. */
export async function startLabEnvironment(start: LabEnvironmentOptions): Promise<LabEnvironment> {
  const { cluster, seed, scheduleSeconds, faults } = start;
  let areFaultsOn = false;
  await using starting = new AsyncDisposableStack();
  const dir = starting.use(await makeTempDir());
  const namespace = starting.use(await createNamespace('lab'));
  const { getFault, counts } = planFaults(seed, clusterFaultShare);
  const tokens = new Tokens(join(dir.path, 'token'), cluster.token);
  const random = createRandom(seed);
  const ambushes = new Map<number, () => void>();
  // A proxy for each process: whose write it was must be known.
  const apiProxies = await Promise.all(
    Array.from({ length: processCount }, (_, process) =>
      startApiProxy(cluster, {
        getDelayMs: () => drawInteger(random, clusterDelayMs.least, clusterDelayMs.most),
        getFault: (call) => tokens.getFault() ?? (areFaultsOn ? getFault(call) : undefined),
        tokenFile: tokens.file,
        cut: ({ written }) => written !== undefined && spring(ambushes, process),
      }),
    ),
  );
  for (const apiProxy of apiProxies) starting.use(apiProxy);
  const events: BusEvent[] = [];
  const process = starting.use(await startEngines(dir.path, events));
  const { engines, credentials } = process.first;
  const capacity = new PartitionCapacity();
  const toProxy = async (service: EngineService) => {
    const target = engines[service];
    return starting.use(await startEngineProxy({ service, target, credentials, faults, capacity })).url;
  };
  const proxied = {
    dynamodb: await toProxy('dynamodb'),
    sqs: await toProxy('sqs'),
    eventbridge: await toProxy('eventbridge'),
  };
  const places = apiProxies.map(({ kubeconfig: kubeconfigFile }, process) => ({
    file: join(dir.path, `clouddriver-${process}.yml`),
    account: { kubeconfigFile, namespaces: [namespace.name] },
  }));
  const accounts = new Accounts(places);
  await accounts.add();
  const environments = places.map(({ file }) => toEnvironment(file, { engines: proxied, credentials }));
  const options = { seed, scheduleSeconds, environments, logDir: dir.path };
  const fleet = starting.use(await Fleet.start(options));
  const running = starting.move();
  return {
    ...{ namespace: namespace.name, fleet, events, logDir: dir.path, accounts: accounts.names },
    addAccount: () => accounts.add(),
    get clusterFaults() {
      return { ...counts, 'status 401': tokens.refusals };
    },
    lapse: (lapse) => tokens.lapse(lapse),
    listClusterCalls: () => apiProxies.flatMap(({ calls }) => calls),
    async awaitWrite(process) {
      const { promise, resolve } = Promise.withResolvers<void>();
      ambushes.set(process, resolve);
      await Promise.race([promise, sleep(ambushMs, undefined, { ref: false })]);
      ambushes.delete(process);
    },
    stores: {
      ...{ dynamodb: engines.dynamodb, tasksTable: tasksTable.name },
      ...{ sqs: engines.sqs, operationsQueue: 'operations', credentials },
    },
    setClusterFaults(areOn) {
      areFaultsOn = areOn;
    },
    credentials: [cluster.token, credentials.accessKeyId, credentials.secretAccessKey],
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The environment of a process whose functions read a file of settings. */
function toEnvironment(file: string, reached: Pick<FirstEnginesMessage, 'engines' | 'credentials'>) {
  const settings = {
    configFiles: [file],
    profiles: ['local'],
    kubeconfig: undefined,
    logLevel: 'INFO',
  } as const;
  return toFunctionEnvironment({ ...reached, settings, tables, queues, busName });
}

type FirstEnginesMessage = Extract<EnginesMessage, { engines: unknown }>;

function startEngines(dir: string, events: BusEvent[]): Promise<LabProcess<FirstEnginesMessage>> {
  return startLabProcess<FirstEnginesMessage>({
    module: 'engines-main.ts',
    args: [join(dir, 'dynamodb'), busName],
    logFile: join(dir, 'engines.log'),
    onMessage(message) {
      const told = message as EnginesMessage;
      if ('event' in told) events.push(told.event);
    },
  });
}

/** Tells who waits for a write of a process. @returns whether somebody does, and the answer is to be lost */
function spring(ambushes: ReadonlyMap<number, () => void>, process: number): boolean {
  const tell = ambushes.get(process);
  tell?.();
  return tell !== undefined;
}

/** A process's file of settings, and what all accounts have there. */
interface AccountsPlace {
  readonly file: string;
  readonly account: object;
}

/** The accounts, of which every second one is cached by runs, the others by streams. */
class Accounts {
  readonly names = ['test', 'streamed'];
  readonly #places: readonly AccountsPlace[];

  constructor(places: readonly AccountsPlace[]) {
    this.#places = places;
  }

  async add(): Promise<void> {
    this.names.push(`${fillPrefix}${this.names.length}`);
    const modes = [{ cacheMode: 'interval', cacheIntervalSeconds: 5 }, { cacheMode: 'stream' }];
    for (const { file, account } of this.#places) {
      const accounts = this.names.map((name, index) => ({
        name,
        ...account,
        ...modes[index % modes.length],
      }));
      // Nobody is to read half of it.
      await writeFile(`${file}.next`, JSON.stringify({ kubernetes: { enabled: true, accounts } }));
      await rename(`${file}.next`, file);
    }
  }
}

/** The token of the accounts, which ends now and then. */
class Tokens {
  readonly file: string;
  readonly #token: string;
  #isExpired = false;
  /** Calls that were refused for it. */
  refusals = 0;

  constructor(file: string, token: string) {
    this.file = file;
    this.#token = token;
  }

  getFault(): Fault | undefined {
    if (!this.#isExpired) return undefined;
    this.refusals += 1;
    return { type: 'status', status: 401, message: 'Unauthorized' };
  }

  async lapse({ ms }: Lapse): Promise<void> {
    this.#isExpired = true;
    await sleep(ms / 2);
    await rm(this.file);
    await sleep(ms / 2);
    await writeFile(this.file, this.#token);
    this.#isExpired = false;
  }
}
