import { readFile } from 'node:fs/promises';
import type { TlsOptions } from 'node:tls';
import type { Clock } from '#core/clock.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import { AgentHealth } from './agent-health.ts';
import { AgentMetrics } from './agent-metrics.ts';
import {
  type StatusAddress,
  type StatusServer,
  startHealthServer,
  startMetricsServer,
} from './status-server.ts';

/** Port of health: that of Armory's agent, which manifests know. */
export const healthPortDefault = 8082;
/** Port of metrics: that of Armory's agent, which Prometheus may be set up for. */
export const metricsPortDefault = 8008;

/** Where an agent shows its status, as its file says it. */
export interface StatusConfig {
  /** Default: all addresses in a pod, where the kubelet asks from outside; elsewhere this machine's alone. */
  readonly host: string | undefined;
  /** Default: {@link healthPortDefault}; 0 takes any free one. */
  readonly healthPort: number | undefined;
  /** Health is answered by TLS; undefined: as it is. Paths are absolute. */
  readonly healthTls: HealthTls | undefined;
  /** Default: {@link metricsPortDefault}; 0 takes any free one. */
  readonly metricsPort: number | undefined;
  readonly servesMetrics: boolean;
}

/** Certificate and key of the server that answers the kubelet. */
export interface HealthTls {
  readonly certFile: string;
  readonly keyFile: string;
  readonly keyPassword: string | undefined;
  /** Authorities of clients' certificates. */
  readonly caFile: string | undefined;
  /** Whether clients may show a certificate, or must. */
  readonly clientAuth: 'none' | 'want' | 'need';
}

/** Dependencies of the status of an agent. */
export interface AgentStatusOptions {
  readonly config: StatusConfig;
  readonly clock: Clock;
  readonly log: Logger;
  readonly environment: { readonly [name: string]: string | undefined };
}

/**
 * Serves health and metrics. Disposing closes their ports.
 *
 * @throws Error where a port that the file names cannot be had. One that it does not name is done without: several agents may run beside
 *   each other.
 */
export async function startAgentStatus(options: AgentStatusOptions) {
  const { config, clock, environment } = options;
  const health = new AgentHealth(clock);
  const metrics = new AgentMetrics();
  const host = config.host ?? (environment['KUBERNETES_SERVICE_HOST'] ? undefined : '127.0.0.1');
  const servers = new AsyncDisposableStack();
  try {
    const { healthPort, metricsPort } = config;
    const tls = config.healthTls && (await readTls(config.healthTls));
    servers.use(
      await startUnlessTaken(options, {
        what: 'health',
        isNamed: healthPort !== undefined,
        address: { host, port: healthPort ?? healthPortDefault, tls },
        start: (address) => startHealthServer(health, address),
      }),
    );
    if (config.servesMetrics) {
      servers.use(
        await startUnlessTaken(options, {
          what: 'metrics',
          isNamed: metricsPort !== undefined,
          address: { host, port: metricsPort ?? metricsPortDefault },
          start: (address) => startMetricsServer(metrics, address),
        }),
      );
    }
  } catch (error) {
    await servers.disposeAsync();
    throw error;
  }
  return { health, metrics, [Symbol.asyncDispose]: () => servers.disposeAsync() };
}

async function readTls({
  certFile,
  keyFile,
  caFile,
  keyPassword,
  clientAuth,
}: HealthTls): Promise<TlsOptions> {
  const read = async (file: string) => readFile(file, 'utf8');
  return {
    cert: await read(certFile),
    key: await read(keyFile),
    ...(caFile !== undefined && { ca: await read(caFile) }),
    ...(keyPassword !== undefined && { passphrase: keyPassword }),
    requestCert: clientAuth !== 'none',
    rejectUnauthorized: clientAuth === 'need',
  };
}

/** A server that is to be started. */
interface ServerPlan {
  readonly what: string;
  readonly isNamed: boolean;
  readonly address: StatusAddress;
  start(address: StatusAddress): Promise<StatusServer>;
}

async function startUnlessTaken(
  { log }: AgentStatusOptions,
  { what, isNamed, address, start }: ServerPlan,
): Promise<StatusServer | undefined> {
  const { host, port } = address;
  try {
    const server = await start(address);
    log.info(`${what} is served`, { host: host ?? 'all addresses', port: server.port });
    return server;
  } catch (error) {
    const sentence = `${what} cannot be served at ${host ?? 'all addresses'}, port ${port}: ${getErrorMessage(error)}`;
    if (isNamed) throw new Error(sentence, { cause: error });
    log.warn(sentence);
    return undefined;
  }
}
