import { readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, request as requestHttps } from 'node:https';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { listenForProxy, type ProxyFront } from '../network/proxy-front.ts';
import { makeTempDir } from '../run/temp-dir.ts';
import type { TestCluster } from './cluster.ts';

/** The control plane behind a proxy. */
export type ProxiedCluster = Pick<TestCluster, 'server' | 'caFile' | 'token'>;

/** A call on its way to the API server. */
export interface PassingCall {
  readonly method: string;
  /** Path without its query. */
  readonly path: string;
  /** Without the question mark; empty without one. */
  readonly query: string;
  /** In which form it wants the answer: its header `Accept`. */
  readonly accept: string;
  /** Its header of this name. */
  readonly traceparent?: string | undefined;
  /** What it sends: a manifest, a patch; undefined when it sends none. */
  readonly body: unknown;
}

/** A call that went through the proxy. */
export interface ProxiedCall {
  readonly method: string;
  /** Path without its query. */
  readonly path: string;
  readonly status: number;
  /** What the API server answered to a write that it took: the object as it is then. */
  readonly written?: WrittenObject;
}

/** An object as the API server answered it. */
export interface WrittenObject {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
  };
}

/** What goes wrong with a call. */
export type Fault =
  /** It takes longer. */
  | { readonly type: 'latency'; readonly ms: number }
  /** It is answered by this status, and not passed on; with a message, as the API server tells one. */
  | {
      readonly type: 'status';
      readonly status: number;
      readonly retryAfterSeconds?: number;
      readonly message?: string;
    }
  /**
   * The connection breaks, by a reset or by the proxy's end of it (half-closed), before the call is passed on, or in place of
   * the API server's answer, or in the midst of that.
   */
  | { readonly type: 'reset' | 'half-close'; readonly when: 'before' | 'after' | 'midst' };

/** A proxy between Busdriver and the real API server that counts, delays and breaks what passes. */
export interface ApiProxy extends AsyncDisposable {
  /** A kubeconfig whose server is the proxy, with the rights of an administrator. */
  readonly kubeconfig: string;
  /** Every call that was answered or passed on since the start, in the order of the answers. */
  readonly calls: ProxiedCall[];
}

/** How the proxy treats what passes. */
export interface ApiProxyOptions {
  /** A file with the token, for the kubeconfig to name: it is there at the start. Default: the kubeconfig has the token itself. */
  readonly tokenFile?: string;
  /** Milliseconds by which each request is delayed before it is passed on; default none. */
  getDelayMs?(): number;
  /** What happens in the cluster just before a call is passed on. */
  before?(call: PassingCall): Promise<unknown>;
  /** Answers a call with this status instead of passing it on; undefined passes it on. Default: passes all on. */
  refuse?(call: PassingCall): number | undefined;
  /** Is given each part of what answers a GET, as it passes. */
  onPart?(call: PassingCall, part: Buffer): void;
  /** True to break the connection in place of an answer: the API server has acted, and nobody learns of it. */
  cut?(call: ProxiedCall): boolean | Promise<boolean>;
  /** What goes wrong with a call. Default: nothing. */
  getFault?(call: PassingCall): Fault | undefined;
  /** The connection breaks when this resolves, even in the midst of the call's answer. Default: never. */
  breaksWhen?(call: PassingCall): Promise<unknown> | undefined;
  /** Given, the proxy speaks TLS, and breaks the handshakes of those connections for which it answers true. */
  breaksHandshake?(): boolean;
}

/** Starts a proxy in front of the cluster on a free port of 127.0.0.1. */
export async function startApiProxy(
  cluster: ProxiedCluster,
  options: ApiProxyOptions = {},
): Promise<ApiProxy> {
  const dir = await makeTempDir();
  const agent = new Agent({ ca: await readFile(cluster.caFile), keepAlive: true });
  const calls: ProxiedCall[] = [];
  const front: ProxyFront = await listenForProxy((request, response) => {
    // Whoever called went away, or the API server did.
    passOn({ request, response, front, cluster, agent, calls, options }).catch(() => response.destroy());
  }, options.breaksHandshake);
  const kubeconfig = join(dir.path, 'kubeconfig');
  if (options.tokenFile !== undefined) await writeFile(options.tokenFile, cluster.token);
  await writeFile(
    kubeconfig,
    toKubeconfig(
      front,
      options.tokenFile === undefined ? { token: cluster.token } : { tokenFile: options.tokenFile },
    ),
  );
  return {
    kubeconfig,
    calls,
    async [Symbol.asyncDispose]() {
      await front[Symbol.asyncDispose]();
      agent.destroy();
      await dir[Symbol.asyncDispose]();
    },
  };
}

/** A request in the proxy. */
interface Passage {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly front: ProxyFront;
  readonly cluster: ProxiedCluster;
  readonly agent: Agent;
  readonly calls: ProxiedCall[];
  readonly options: ApiProxyOptions;
}

async function passOn(passage: Passage): Promise<void> {
  const { request, response, calls, options } = passage;
  const { method = 'GET', url = '/' } = request;
  const [path = '', query = ''] = url.split('?');
  const sent = await buffer(request);
  const { accept = '', traceparent } = request.headers;
  const call = { method, path, query, accept, traceparent: traceparent?.toString(), body: parseBody(sent) };
  const fault = options.getFault?.(call);
  const status = options.refuse?.(call) ?? (fault?.type === 'status' ? fault.status : undefined);
  if (status !== undefined) {
    calls.push({ method, path, status });
    return refuse(response, status, fault);
  }
  const delayMs = (options.getDelayMs?.() ?? 0) + (fault?.type === 'latency' ? fault.ms : 0);
  if (delayMs > 0) await sleep(delayMs);
  if (request.socket.destroyed) return;
  if (breaks(fault, 'before')) return breakOff(passage, fault);
  await options.before?.(call);
  const answer = await askApiServer(passage, sent);
  const proxied = { method, path, status: answer.statusCode ?? 502 };
  const body = method === 'GET' && !breaks(fault, 'midst') ? undefined : await buffer(answer);
  const written = proxied.status < 300 && method !== 'GET' ? toWritten(parseBody(body)) : undefined;
  calls.push({ ...proxied, ...(written && { written }) });
  if (await options.cut?.({ ...proxied, ...(written && { written }) })) {
    answer.resume();
    response.destroy();
    return;
  }
  if (breaks(fault, 'after')) return breakOff(passage, fault);
  response.writeHead(proxied.status, answer.headers).flushHeaders();
  void options.breaksWhen?.(call)?.then(() => response.destroy());
  if (breaks(fault, 'midst')) {
    response.write(body?.subarray(0, body.length / 2), () => breakOff(passage, fault));
  } else if (body === undefined) {
    if (options.onPart) answer.on('data', (part: Buffer) => options.onPart?.(call, part));
    answer.pipe(response);
  } else response.end(body);
}

function askApiServer({ request, cluster, agent }: Passage, body: Buffer): Promise<IncomingMessage> {
  const { method = 'GET', url = '/', headers } = request;
  const target = new URL(url, cluster.server);
  return new Promise((resolve, reject) => {
    requestHttps(target, { method, agent, headers: { ...headers, host: target.host } })
      .once('response', resolve)
      .once('error', reject)
      .end(body);
  });
}

function refuse(response: ServerResponse, status: number, fault: Fault | undefined): void {
  const { retryAfterSeconds: seconds, message = undefined } = fault?.type === 'status' ? fault : {};
  const headers = { ...(seconds !== undefined && { 'retry-after': String(seconds) }) };
  if (message !== undefined) {
    const body = { apiVersion: 'v1', kind: 'Status', status: 'Failure', message, code: status };
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    return;
  }
  response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end('refused by the test');
}

/** A fault that breaks the connection. */
type Break = Extract<Fault, { type: 'reset' | 'half-close' }>;

function breaks(fault: Fault | undefined, when: Break['when']): fault is Break {
  return (fault?.type === 'reset' || fault?.type === 'half-close') && fault.when === when;
}

function breakOff({ request: { socket }, front }: Passage, { type }: Break): void {
  if (type === 'half-close') socket.end();
  else front.reset(socket);
}

function parseBody(body: Buffer | undefined): unknown {
  try {
    return JSON.parse(body?.toString('utf8') ?? '');
  } catch {
    return undefined;
  }
}

/** The object in an answer; undefined for a Status. */
function toWritten(body: unknown): WrittenObject | undefined {
  const { kind, metadata } = (body ?? {}) as Partial<WrittenObject>;
  if (kind === undefined || metadata?.uid === undefined) return undefined;
  const { name, namespace, uid, resourceVersion, generation } = metadata;
  const identity = { name, uid, resourceVersion, ...(namespace !== undefined && { namespace }) };
  return { kind, metadata: { ...identity, ...(generation !== undefined && { generation }) } };
}

function toKubeconfig({ url, authority }: ProxyFront, user: object): string {
  const trust = authority && { 'certificate-authority-data': Buffer.from(authority).toString('base64') };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'proxy', cluster: { server: url, ...trust } }],
    users: [{ name: 'admin', user }],
    contexts: [{ name: 'test', context: { cluster: 'proxy', user: 'admin' } }],
    'current-context': 'test',
  });
}
