import { writeFile } from 'node:fs/promises';
import path, { join } from 'node:path';
import { type ChannelCredentials, Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { RefusalCodec } from '#agents/protocol/grpc/refusal.ts';
import type { JsonObject } from '#core/json.ts';
import { type Host, startHost } from '#infra/kubernetes/runtime.ts';
import type { TokenSigner } from '#test/support/agents/agent-process.ts';
import { createTokenSigner, toAgentAccount } from '#test/support/agents/agent-process.ts';
import { writeSessionKey } from '#test/support/agents/session-key.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';
import { type HomeEngines, startHomeEngines } from '../engines.ts';
import { openToManagers } from '../pod.ts';

const root = path.resolve(import.meta.dirname, '../../../..');

/** The schema as its own project's loader reads it. */
export const schema = loadSync(join(root, 'docs/agent/busdriver-agent-v1.proto'), {
  ...{ longs: Number, enums: String, bytes: String, defaults: true, oneofs: false },
});

/** A replica that serves agents of account `edge` over gRPC, and of account `other` of somebody else. */
export interface GrpcHost extends AsyncDisposable {
  readonly host: Host;
  readonly port: number;
  readonly signer: TokenSigner;
  readonly engines: HomeEngines;
  /** Posts a deploy into an account. @returns the id of its task */
  post(account?: string): Promise<string>;
}

/** What of a host may differ. */
export interface GrpcHostOptions {
  /** `kubesvc.grpc.server.security`. Default: no TLS. */
  readonly security?: object;
  /** `kubesvc.grpc.auth.x509.filters`. Default: they are not asked for. */
  readonly filters?: readonly string[];
  /** Accounts beside `edge` and `other`. Default: none. */
  readonly accounts?: readonly object[];
}

/** Starts one without a cluster of its own. */
export async function startGrpcHost({
  security,
  filters,
  accounts = [],
}: GrpcHostOptions = {}): Promise<GrpcHost> {
  await using starting = new AsyncDisposableStack();
  const engines = starting.use(await startHomeEngines());
  const signer = await createTokenSigner();
  const other = await createTokenSigner('system:serviceaccount:other:agent');
  const config = join(engines.dir, 'clouddriver.yml');
  const settings = {
    busdriver: {
      ...openToManagers.busdriver,
      agents: { enabled: true, limits: { pollIdleMs: 100, pollBusyMs: 50 } },
    },
    kubesvc: {
      cluster: 'local',
      grpc: {
        server: { address: '127.0.0.1', port: 0, ...(security && { security }) },
        ...(filters && { auth: { x509: { enabled: true, filters } } }),
      },
    },
    kubernetes: { accounts: [toAgentAccount('edge', signer), toAgentAccount('other', other), ...accounts] },
  };
  await writeFile(config, JSON.stringify(settings));
  const host = starting.use(
    await startHost({
      ...{ host: '127.0.0.1', port: 0, allowedHosts: [], configFiles: [config], profiles: ['local'] },
      ...{ logLevel: 'SILENT', namePrefix: '', createsResources: false, podName: 'spin-clouddriver-0' },
      environment: {
        ...engines.environment,
        BUSDRIVER_AGENT_KEY_FILE: await writeSessionKey(engines.dir),
        ...{ KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: '1' },
      },
      serviceAccountDirectory: engines.dir,
      peerTokenFile: join(engines.dir, 'no-token'),
      shutdownTimeoutMs: 2_000,
    }),
  );
  const running = starting.move();
  return {
    ...{ host, signer, engines, port: host.grpcPort ?? 0 },
    async post(account = 'edge') {
      const response = await fetch(new URL('/kubernetes/ops', host.url), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify([toDeploy(account, 'default', ['x'])]),
      });
      if (response.status !== 200) throw new Error(await response.text());
      return String(((await response.json()) as { id: string }).id);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** What a call came to. */
export interface CallOutcome {
  /** 0 where it was taken. */
  readonly code: number;
  /** What is answered, or why not. */
  readonly answer: JsonObject;
  readonly details: string;
  readonly metadata: Metadata | undefined;
}

const codec = new RefusalCodec();

/** What details of a status tell; undefined where there are none. */
export function getRefusal(metadata: Metadata | undefined) {
  const [details] = metadata?.get('grpc-status-details-bin') ?? [];
  return Buffer.isBuffer(details) ? codec.decode(details) : undefined;
}

/** How a client calls. */
export interface GrpcClientOptions {
  /** Default: without TLS. */
  readonly credentials?: ChannelCredentials;
  /** Name in the server's certificate. */
  readonly serverName?: string;
}

/** A client of the published schema, which shares nothing with the agent's. Disposing closes its connection. */
export class GrpcClient implements Disposable {
  readonly #client: Client;

  constructor(port: number, options: GrpcClientOptions = {}) {
    this.#client = new Client(`127.0.0.1:${port}`, options.credentials ?? credentials.createInsecure(), {
      'grpc.enable_retries': 0,
      'grpc.max_send_message_length': 32 << 20,
      'grpc.max_receive_message_length': 32 << 20,
      ...(options.serverName !== undefined && { 'grpc.ssl_target_name_override': options.serverName }),
    });
  }

  /** Makes a call, `Tasks.Take`. @param deadlineMs from now */
  async call(name: string, message: object, { token = '', deadlineMs = 20_000 } = {}): Promise<CallOutcome> {
    const method = getMethod(name);
    const metadata = new Metadata();
    if (token !== '') metadata.set('authorization', `Bearer ${token}`);
    const options = { deadline: Date.now() + deadlineMs };
    const { promise, resolve } = Promise.withResolvers<CallOutcome>();
    const settle = (error: ServiceError | null, answer?: object): void =>
      resolve({
        code: error?.code ?? 0,
        answer: (answer ?? {}) as JsonObject,
        details: error?.details ?? '',
        metadata: error?.metadata,
      });
    const rest = [metadata, options, settle] as const;
    const { path: target, requestSerialize, responseDeserialize } = method;
    if (method.requestStream) {
      const stream = this.#client.makeClientStreamRequest(
        target,
        requestSerialize,
        responseDeserialize,
        ...rest,
      );
      stream.on('error', () => undefined);
      for (const each of Array.isArray(message) ? message : [message]) stream.write(each);
      stream.end();
    } else {
      this.#client.makeUnaryRequest(target, requestSerialize, responseDeserialize, message, ...rest);
    }
    return promise;
  }

  /** Opens a stream of what the server tells. @returns the stream of grpc-js */
  watch(name: string, message: object, token = '') {
    const { path: target, requestSerialize, responseDeserialize } = getMethod(name);
    const metadata = new Metadata();
    if (token !== '') metadata.set('authorization', `Bearer ${token}`);
    return this.#client.makeServerStreamRequest<object, JsonObject>(
      target,
      requestSerialize,
      responseDeserialize as (bytes: Buffer) => JsonObject,
      message,
      metadata,
    );
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}

function getMethod(name: string) {
  const [service = '', method = ''] = name.split('.');
  const definition = schema[`busdriver.agent.v1.${service}`];
  if (definition === undefined || 'format' in definition) throw new Error(`no service ${service}`);
  const found = definition[method];
  if (found === undefined) throw new Error(`no method ${name}`);
  return found;
}

/** A session of account `edge`. */
export async function openSession(
  client: GrpcClient,
  signer: TokenSigner,
): Promise<{ readonly session: string; readonly token: string; readonly welcome: JsonObject }> {
  const { answer, details } = await client.call('Sessions.Open', hello, { token: await signer.sign() });
  if (details !== '') throw new Error(details);
  return { session: String(answer['session']), token: String(answer['token']), welcome: answer };
}

/** A hello of an agent of account `edge`. */
export const hello = {
  ...{ agentId: 'test', version: '1', protocol: 1, journalFormat: 1 },
  accounts: [{ name: 'edge' }],
};
