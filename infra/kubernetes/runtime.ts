import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { Logger } from '#core/logger.ts';
import { operatorRoutes } from '#functions/operator-routes.ts';
import { queues } from '#functions/queues.ts';
import { routes } from '#functions/routes.ts';
import { schedules } from '#functions/schedules.ts';
import { closeServices } from '#infra/server/close-services.ts';
import { frontDoorLimits } from '#infra/server/front-door/http-limits.ts';
import { createAgentFinder } from '#infra/server/front-door/proved-agents.ts';
import { bindHandlers, loadHandler } from '#infra/server/functions/handlers.ts';
import { Invoker } from '#infra/server/functions/invoker.ts';
import { type Inventory, serveFunctions } from '#infra/server/served-functions.ts';
import { tables } from '#platform/aws/tables.ts';
import { areRequestsVerbose, type Environment, variables } from '#platform/config.ts';
import { createLogger } from '#platform/services/logger.ts';
import { openMeter } from '#platform/services/meter.ts';
import { Services } from '#platform/services/services.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import { loadSettings } from '#settings/live/settings.ts';
import { largePayloadBytesMax } from '#tasks/payload-limit.ts';
import { findUnknownPathRoute } from '#upstream/services/unknown-paths.ts';
import { createUpstreamState } from '#upstream/services/upstream-state.ts';
import { type AgentServer, checkSessionKey, openAgentServer } from './agent-server.ts';
import type { HostCliOptions } from './cli-options.ts';
import { createResources } from './create-resources.ts';
import { openGrpc } from './grpc/open-grpc.ts';
import { HostAccess } from './host-access.ts';
import { createHostRoutes } from './host-routes.ts';
import { chooseAddress, isServiceName } from './peers/host-names.ts';
import type { Peer } from './peers/peer-addresses.ts';
import { defaultNamePrefix, parsePeerSettings } from './peers/peer-settings.ts';
import { PeerTokens } from './peers/peer-tokens.ts';
import { type PeerSettings, type Peers, startPeers } from './peers/peers.ts';
import { PodCluster } from './peers/pod-cluster.ts';
import { createReadiness } from './readiness.ts';
import { findResources, listEventSources, toClientOptions } from './resources.ts';

/** How to start this home: what its command line says, and where it runs. */
export interface StartHostOptions
  extends Omit<HostCliOptions, 'help' | 'providers' | 'peerAddresses' | 'sessionKeyFile' | 'metricsPort'>,
    Partial<Pick<HostCliOptions, 'metricsPort'>> {
  /** Environment variables; where AWS is, and credentials for it, among them. */
  readonly environment: Environment;
  /** File with the key that signs sessions of agents. Default: the environment names it. */
  readonly sessionKeyFile?: string | undefined;
  /** Milliseconds that invocations under way get when the process stops. */
  readonly shutdownTimeoutMs: number;
  /** Where a peer is reached. Default: at its `baseUrl`. */
  readonly toPeerUrl?: ((peer: Peer) => string) | undefined;
}

/** The running home. Disposing stops taking requests and messages, and lets invocations end. */
export interface Host extends AsyncDisposable {
  /** Where the API answers here. */
  readonly url: string;
  /** Where agents are served over gRPC; undefined where they are not. */
  readonly grpcPort: number | undefined;
  readonly peers: Peers;
  /** What serves agents. */
  readonly agents: Pick<AgentServer, 'connections' | 'awaited' | 'forwarding'>;
  /** What its functions work with. */
  readonly services: Services;
}

/**
 * Runs every function in this process, on DynamoDB, SQS and EventBridge that are elsewhere, beside other replicas on the same ones.
 *
 * @throws Error for a queue that is not there, settings that cannot be used, or an address that cannot be bound
 */
export async function startHost(options: StartHostOptions): Promise<Host> {
  await using starting = new AsyncDisposableStack();
  const log = createLogger({ logLevel: options.logLevel, placement: 'local' });
  if (options.createsResources)
    await createResources(options.environment, { ...options, tables, queues }, log);
  const environment = await makeEnvironment(options);
  const { configFiles: files, profiles } = options;
  const loaded = (await loadSettings({ files, profiles, environment })).settings;
  const settings = parsePeerSettings(loaded);
  await checkSessionKey(loaded, options.environment, options.sessionKeyFile);
  const services = new Services(environment);
  starting.defer(() => closeServices(services, log));
  const cluster = starting.use(
    new PodCluster({ ...options, clock: systemClock, randomness: systemRandomness, log }),
  );
  const peers = starting.use(openPeers({ settings, cluster, log }));
  const { peerTokenFile: file, toPeerUrl: toUrl, podName } = options;
  const tokens = new PeerTokens({ cluster, file, clock: systemClock, log });
  const agents = starting.use(openAgentServer({ services, peers, tokens, podName, log, toUrl }));
  const access = new HostAccess(tokens, Promise.resolve(services));
  const readiness = createReadiness(services, log);
  const upstream = services.get(createUpstreamState);
  const own = createHostRoutes({ ...agents, access, peers, readiness, upstream, log });
  const load = bindHandlers(
    async (module) => own.findHandler(module) ?? loadHandler(module),
    Promise.resolve(services),
  );
  const invoker = new Invoker(load, log);
  const prefix = settings?.namePrefix ?? defaultNamePrefix;
  const namespace = await readNamespace(options);
  const sqs = starting.adopt(new SQSClient(toClientOptions(environment, 'sqs')), (client) =>
    client.destroy(),
  );
  const served = starting.use(
    await serveFunctions({
      inventory: { ...inventory, routes: [...own.routes, ...agents.routes, ...findOthers(own.routes)] },
      invoker,
      sources: listEventSources(queues, environment),
      meter: openMeter(services),
      metricsPort: options.metricsPort,
      sqs,
      clock: systemClock,
      log,
      shutdownTimeoutMs: options.shutdownTimeoutMs,
      http: {
        ...options,
        host: chooseAddress(options.host),
        // Spinnaker's own cluster has no gateway and no Lambda in between.
        limits: { ...frontDoorLimits, requestBytesMax: largePayloadBytesMax },
        allowsHost: (name) => isServiceName(name, prefix, namespace),
        logsRequests: areRequestsVerbose(environment),
        upgrades: agents.upgrades,
        findAgent: createAgentFinder(services),
        findUnknownRoute: (method) => findUnknownPathRoute(services, method),
      },
    }),
  );
  const { shutdownTimeoutMs } = options;
  const { holding } = agents;
  const grpc = starting.use(
    await openGrpc({ settings: loaded, invoker, services, holding, log, shutdownTimeoutMs }),
  );
  const running = starting.move();
  return {
    ...{ url: served.url, grpcPort: grpc?.port, peers, agents, services },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const inventory: Inventory = { routes: [...routes, ...operatorRoutes], queues, schedules, tables };

/** Routes of functions that this home does not answer itself. */
function findOthers(own: Inventory['routes']): Inventory['routes'] {
  return inventory.routes.filter(
    ({ method, path }) => !own.some((each) => each.method === method && each.path === path),
  );
}

async function makeEnvironment(options: StartHostOptions): Promise<Environment> {
  const { environment, namePrefix, configFiles, profiles, logLevel, sessionKeyFile } = options;
  return {
    ...environment,
    ...(await findResources(environment, { tables, queues, namePrefix })),
    [variables.placement]: 'local',
    [variables.isReplicated]: 'true',
    [variables.configFiles]: JSON.stringify(configFiles),
    [variables.profiles]: profiles.join(','),
    [variables.kubeconfig]: '',
    [variables.logLevel]: logLevel,
    ...(sessionKeyFile !== undefined && { [variables.agentKeyFile]: sessionKeyFile }),
  };
}

/** What peers are found with. */
interface PeerParts {
  readonly settings: PeerSettings | undefined;
  readonly cluster: PodCluster;
  readonly log: Logger;
}

/** Without settings there are no peers. */
function openPeers({ settings, cluster, log }: PeerParts): Peers {
  if (settings !== undefined)
    return startPeers({ settings, cluster, clock: systemClock, randomness: systemRandomness, log });
  return { state: 'watching', list: () => [], find: () => undefined, async [Symbol.asyncDispose]() {} };
}

async function readNamespace({ serviceAccountDirectory }: StartHostOptions): Promise<string> {
  const text = await readFile(path.join(serviceAccountDirectory, 'namespace'), 'utf8').catch(() => '');
  return text.trim() || 'default';
}
