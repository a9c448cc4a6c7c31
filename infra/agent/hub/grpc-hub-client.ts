import { type ConnectionOptions, createSecureContext } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { type ChannelCredentials, Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import {
  agentServices,
  ProtobufSchema,
  protobufPackage,
  type ServiceMethod,
} from '#agents/protocol/grpc/codec.ts';
import { toGrpcRequest } from '#agents/protocol/grpc/http-twins.ts';
import {
  detailsMetadata,
  grpcCodes,
  type Refusal,
  RefusalCodec,
  toHttpStatus,
} from '#agents/protocol/grpc/refusal.ts';
import { asJsonObject, type JsonObject } from '#core/json.ts';
import { wallClock } from '#platform/services/system.ts';
import { GrpcWatch } from './grpc-watch.ts';
import type { HintLine, HintLineOptions } from './hint-line.ts';
import {
  callMs,
  type HubAccess,
  type HubAnswer,
  type HubCall,
  readTlsOptions,
  toHubAnswer,
  toRetryMs,
} from './hub-client.ts';

/** Bytes of a message from Busdriver at most. */
const answerBytesMax = 8 << 20;

/** Bytes of one to it: what it takes by default. */
const requestBytesMax = 4 << 20;

/** Milliseconds between two pings while there are calls, and for the answer of one. */
const keepAliveMs = 20_000;
const keepAliveTimeoutMs = 10_000;

/** Milliseconds between two tries to connect: they grow by 1.6, and differ by a fifth. */
const connectMs = { first: 1_000, most: 30_000 };

/** Opens a client. @throws Error when a file of certificates cannot be read, or is none */
export async function openGrpcHubClient(target: HubAccess): Promise<GrpcHubClient> {
  return new GrpcHubClient(target, await readTlsOptions(target.tls));
}

/** Calls Busdriver over gRPC, each call as its twin over HTTP. Proxies are those that the environment names. */
export class GrpcHubClient implements AsyncDisposable {
  readonly #target: HubAccess;
  readonly #refusals = new RefusalCodec();
  readonly #methods: ReadonlyMap<string, ServiceMethod>;
  #files: ConnectionOptions;
  #client: Client;

  constructor(target: HubAccess, files: ConnectionOptions) {
    this.#target = target;
    this.#files = files;
    this.#client = connect(target, files);
    const schema = new ProtobufSchema();
    const services = agentServices.map((name) => schema.getService(`${protobufPackage}.${name}`));
    this.#methods = new Map(services.flatMap(({ methods }) => methods.map((each) => [each.name, each])));
  }

  /** @throws HubAwayError, or HubRefusalError for what is refused in another way than with 409 */
  async call({ method, path, token, body, packed, signal }: HubCall): Promise<HubAnswer> {
    // Data packed for HTTP crosses gRPC unchanged: its messages are smaller than JSON.
    const sent: unknown = packed === undefined ? body : JSON.parse(gunzipSync(packed).toString('utf8'));
    const { name, message } = toGrpcRequest(method, path, asJsonObject(sent));
    try {
      const answer = await this.#send(this.#getMethod(name), { message, token, signal });
      // Over HTTP nothing is said by 204.
      const isEmpty = Object.keys(answer).length === 0;
      return isEmpty ? { status: 204, body: undefined } : { status: 200, body: answer };
    } catch (error) {
      if (!isServiceError(error)) throw error;
      const { status, retryAfterSeconds = 0, ...refusal } = this.#toRefusal(error);
      if (error.code === grpcCodes.unavailable) await this.#renewFiles();
      const body = { ...refusal, message: `${name}: ${refusal.message}` };
      return toHubAnswer(status, body, toRetryMs(retryAfterSeconds));
    }
  }

  /** Begins to watch for work: over gRPC it needs no address of its own. */
  connect({ welcome: { session, token }, ...options }: HintLineOptions): HintLine {
    const { path, request, response } = this.#getMethod('Sessions.Watch');
    const stream = this.#client.makeServerStreamRequest(
      path,
      (message: JsonObject) => request.encode(message),
      (bytes: Buffer): JsonObject => response.decode(bytes),
      { session },
      toMetadata(token),
    );
    const readRetryMs = (error: ServiceError): number => toRetryMs(this.#toRefusal(error).retryAfterSeconds);
    return new GrpcWatch({ ...options, stream, readRetryMs });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.close();
  }

  /** Certificates of agents do not last for long: new ones are taken where the ones that were read are of no use. */
  async #renewFiles(): Promise<void> {
    const files = await readTlsOptions(this.#target.tls).catch(() => undefined);
    if (files === undefined || JSON.stringify(files) === JSON.stringify(this.#files)) return;
    this.#files = files;
    const before = this.#client;
    this.#client = connect(this.#target, files);
    before.close();
  }

  #getMethod(name: string): ServiceMethod {
    const method = this.#methods.get(name);
    if (method === undefined) throw new Error(`${name} is no call of gRPC`);
    return method;
  }

  async #send(method: ServiceMethod, { message, token, signal }: Sent): Promise<JsonObject> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
    const settle = (error: ServiceError | null, answer?: JsonObject): void =>
      error === null ? resolve(answer ?? {}) : reject(error);
    const call = this.#start(method, { message, token, settle });
    const cancel = (): void => call.cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  #start({ path, requestStream, request, response }: ServiceMethod, { message, token, settle }: Started) {
    const encode = (value: JsonObject): Buffer => request.encode(value);
    const decode = (bytes: Buffer): JsonObject => response.decode(bytes);
    const metadata = toMetadata(token);
    const options = { deadline: wallClock.now() + callMs };
    if (!requestStream) {
      const client = this.#client.makeUnaryRequest.bind(this.#client);
      return client(path, encode, decode, message, metadata, options, settle);
    }
    const client = this.#client.makeClientStreamRequest.bind(this.#client);
    const stream = client(path, encode, decode, metadata, options, settle);
    // The callback says what is wrong with it.
    stream.on('error', () => undefined);
    stream.end(message);
    return stream;
  }

  #toRefusal(error: ServiceError): Refusal {
    const [details] = error.metadata?.get(detailsMetadata) ?? [];
    const refusal = Buffer.isBuffer(details) ? this.#refusals.decode(details) : undefined;
    return refusal ?? { status: toHttpStatus(error.code), message: error.details };
  }
}

interface Sent {
  readonly message: JsonObject;
  readonly token: string;
  readonly signal: AbortSignal | undefined;
}

interface Started {
  readonly message: JsonObject;
  readonly token: string;
  readonly settle: (error: ServiceError | null, answer?: JsonObject) => void;
}

function toMetadata(token: string): Metadata {
  const metadata = new Metadata();
  if (token !== '') metadata.set('authorization', `Bearer ${token}`);
  return metadata;
}

function connect(target: HubAccess, files: ConnectionOptions): Client {
  return new Client(toAddress(target.url), createCredentials(target, files), {
    'grpc.primary_user_agent': 'busdriver-agent',
    'grpc.max_receive_message_length': answerBytesMax,
    'grpc.max_send_message_length': requestBytesMax,
    'grpc.enable_http_proxy': target.noProxy ? 0 : 1,
    ...(target.tls.serverName !== undefined && { 'grpc.ssl_target_name_override': target.tls.serverName }),
    'grpc.keepalive_time_ms': keepAliveMs,
    'grpc.keepalive_timeout_ms': keepAliveTimeoutMs,
    'grpc.initial_reconnect_backoff_ms': connectMs.first,
    'grpc.max_reconnect_backoff_ms': connectMs.most,
    // Whether a call may be repeated its caller knows.
    'grpc.enable_retries': 0,
    'grpc.enable_channelz': 0,
    // Connections with other certificates are not shared.
    'grpc.use_local_subchannel_pool': 1,
  });
}

/** gRPC wants a port, which a URL leaves out where it is the usual one. */
function toAddress(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port || (protocol === 'http:' ? '80' : '443')}`;
}

function createCredentials({ url }: HubAccess, tls: ConnectionOptions): ChannelCredentials {
  if (new URL(url).protocol === 'http:') return credentials.createInsecure();
  const { rejectUnauthorized = true } = tls;
  return credentials.createFromSecureContext(createSecureContext(tls), { rejectUnauthorized });
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && 'details' in error;
}
