import { Server, ServerCredentials, type ServiceDefinition, type UntypedHandleCall } from '@grpc/grpc-js';
import {
  agentServices,
  type MessageCodec,
  ProtobufSchema,
  protobufPackage,
  type Service,
  type ServiceMethod,
} from '#agents/protocol/grpc/codec.ts';
import { waits } from '#core/deadline.ts';
import type { Logger } from '#core/logger.ts';
import type { HoldOptions } from '#infra/server/hints/hold-connection.ts';
import type { Services } from '#platform/services/services.ts';
import { systemClock } from '#platform/services/system.ts';
import { AgentCalls, type AgentCallsOptions } from './agent-calls.ts';
import { startListener } from './grpc-listener.ts';
import type { GrpcSettings } from './grpc-settings.ts';
import { Health, healthService } from './health.ts';
import { createMethodHandler, type MethodHandlerOptions } from './method-handlers.ts';
import { createReflection, reflectionServices } from './reflection.ts';
import schemas from './schemas.generated.json' with { type: 'json' };
import { Watches, type WatchStream, watchName } from './watches.ts';

/** Bytes of an answer at most: a task with its operations is the largest. */
const outboundBytesMax = 8 << 20;

/** Milliseconds between two pings of a connection on which nothing happens, and those that an answer may take. */
const keepAliveMs = 20_000;
const keepAliveTimeoutMs = 10_000;

/** Milliseconds after which a connection without calls is closed; an agent has one that lasts. */
const idleMs = 10 * 60_000;

/** Calls of one connection at a time. */
const streamsMax = 128;

/** Megabytes that one connection may have under way. */
const connectionMegabytes = 32;

/** How to serve gRPC. */
export interface StartGrpcOptions extends Omit<AgentCallsOptions, 'subjectFilters'> {
  readonly settings: GrpcSettings;
  readonly services: Services;
  /** How agents that watch are held. */
  readonly holding: HoldOptions;
  readonly log: Logger;
  /** Milliseconds that calls under way get when it is disposed of. */
  readonly shutdownTimeoutMs: number;
}

/** gRPC that is served. Disposing takes nothing new, lets end what runs, then cuts connections. */
export interface GrpcServer extends AsyncDisposable {
  readonly port: number;
}

/** Serves agents over gRPC. @throws Error when the address cannot be bound, or a file of TLS cannot be used */
export async function startGrpc(options: StartGrpcOptions): Promise<GrpcServer> {
  const { settings, log } = options;
  const server = new Server({
    'grpc.max_receive_message_length': settings.maxInboundBytes,
    'grpc.max_send_message_length': outboundBytesMax,
    'grpc.keepalive_time_ms': keepAliveMs,
    'grpc.keepalive_timeout_ms': keepAliveTimeoutMs,
    'grpc.max_connection_idle_ms': idleMs,
    'grpc.max_concurrent_streams': streamsMax,
    'grpc-node.max_session_memory': connectionMegabytes,
    'grpc.enable_channelz': 0,
  });
  const calls = new AgentCalls({ ...options, ...settings });
  const own = agentServices.map((name) => `${protobufPackage}.${name}`);
  const health = new Health(own);
  const schema = new ProtobufSchema();
  const watches = new Watches({ ...options, calls });
  for (const name of own) addCalls(server, schema.getService(name), { calls, watches, log });
  addStandardServices(server, own, health);
  // It takes connections from our own listener, which knows what to do with certificates that nobody trusts, and new ones of its own.
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const listener = await startListener({
    settings,
    log,
    onConnection: (socket) => injector.injectConnection(socket),
  });
  log.info('gRPC for agents', { port: listener.address.port, tls: settings.security !== undefined });
  return {
    port: listener.address.port,
    async [Symbol.asyncDispose]() {
      health.stop();
      await listener[Symbol.asyncDispose]();
      watches[Symbol.dispose]();
      await drain(server, options.shutdownTimeoutMs);
    },
  };
}

/** Ends what runs, at most so long; then all connections are cut. */
async function drain(server: Server, timeoutMs: number): Promise<void> {
  const ended = new AbortController();
  server.tryShutdown(() => ended.abort());
  await waits(systemClock, timeoutMs, ended.signal);
  server.forceShutdown();
}

function addStandardServices(server: Server, own: readonly string[], health: Health): void {
  const schema = new ProtobufSchema(schemas.standard);
  const reflection = createReflection([...own, healthService, ...reflectionServices], schemas.files);
  server.addService(toDefinition(schema.getService(healthService)), health.implementation);
  for (const name of reflectionServices) server.addService(toDefinition(schema.getService(name)), reflection);
}

interface CallOptions extends MethodHandlerOptions {
  readonly watches: Pick<Watches, 'take'>;
}

function addCalls(server: Server, service: Service, { watches, ...options }: CallOptions): void {
  const toHandler = (method: ServiceMethod): UntypedHandleCall =>
    method.name === watchName
      ? (stream: WatchStream) => watches.take(stream)
      : createMethodHandler(method, options);
  const handlers = service.methods.map((method) => [getOwnName(method), toHandler(method)] as const);
  server.addService(toDefinition(service), Object.fromEntries(handlers));
}

/** Without its service. */
function getOwnName({ name }: Pick<ServiceMethod, 'name'>): string {
  return name.slice(name.indexOf('.') + 1);
}

/** A service as grpc-js takes it. */
function toDefinition({ methods }: Service): ServiceDefinition {
  const toEncoder =
    ({ encode }: MessageCodec) =>
    (message: object) =>
      encode(message);
  const toDecoder =
    ({ decode }: MessageCodec) =>
    (bytes: Buffer) =>
      decode(bytes);
  return Object.fromEntries(
    methods.map((method) => {
      const { path, requestStream, responseStream, request, response } = method;
      const definition = {
        ...{ path, requestStream, responseStream },
        ...{ requestSerialize: toEncoder(request), requestDeserialize: toDecoder(request) },
        ...{ responseSerialize: toEncoder(response), responseDeserialize: toDecoder(response) },
      };
      return [getOwnName(method), definition] as const;
    }),
  );
}
