import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, request as requestHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestCluster } from './cluster.ts';
import { makeTempDir } from './temp-dir.ts';

/** A call that went through the proxy. */
export interface ProxiedCall {
  readonly method: string;
  /** Path without its query. */
  readonly path: string;
  readonly status: number;
}

/** A proxy between Busdriver and the real API server that counts, and delays, what passes. */
export interface ApiProxy extends AsyncDisposable {
  /** A kubeconfig whose server is the proxy, with the rights of an administrator. */
  readonly kubeconfig: string;
  /** Every call since the start, in the order of the answers. */
  readonly calls: ProxiedCall[];
}

/** How the proxy treats what passes. */
export interface ApiProxyOptions {
  /** Milliseconds by which each request is delayed before it is passed on; default none. */
  getDelayMs?(): number;
  /** What happens in the cluster just before a call is passed on. */
  before?(call: Omit<ProxiedCall, 'status'>): Promise<unknown>;
  /** Answers a call with this status instead of passing it on; undefined passes it on. Default: passes all on. */
  refuse?(call: Omit<ProxiedCall, 'status'>): number | undefined;
  /** True to break the connection in place of an answer: the API server has acted, and nobody learns of it. */
  cut?(call: ProxiedCall): boolean;
}

/** Starts a proxy in front of the cluster on a free port of 127.0.0.1. */
export async function startApiProxy(cluster: TestCluster, options: ApiProxyOptions = {}): Promise<ApiProxy> {
  const dir = await makeTempDir();
  const agent = new Agent({ ca: await readFile(cluster.caFile), keepAlive: true });
  const calls: ProxiedCall[] = [];
  const server = createServer((request, response) => {
    const { method = 'GET', url = '/' } = request;
    const path = new URL(url, cluster.server).pathname;
    const status = options.refuse?.({ method, path });
    if (status === undefined) {
      void passOn({ request, response, cluster, agent, calls, options });
      return;
    }
    calls.push({ method, path, status });
    response.writeHead(status, { 'content-type': 'text/plain' }).end('refused by the test');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const kubeconfig = join(dir.path, 'kubeconfig');
  await writeFile(kubeconfig, toKubeconfig(`http://127.0.0.1:${port}`, cluster.token));
  return {
    kubeconfig,
    calls,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      agent.destroy();
      await dir[Symbol.asyncDispose]();
    },
  };
}

async function passOn(call: {
  request: IncomingMessage;
  response: ServerResponse;
  cluster: TestCluster;
  agent: Agent;
  calls: ProxiedCall[];
  options: ApiProxyOptions;
}): Promise<void> {
  const { request, response, cluster, agent, calls, options } = call;
  const delayMs = options.getDelayMs?.() ?? 0;
  if (delayMs > 0) await sleep(delayMs);
  const { method = 'GET', url = '/', headers } = request;
  const target = new URL(url, cluster.server);
  await options.before?.({ method, path: target.pathname });
  const passed = requestHttps(target, { method, agent, headers: { ...headers, host: target.host } });
  passed.on('response', (answer) => {
    const passedCall = { method, path: target.pathname, status: answer.statusCode ?? 0 };
    calls.push(passedCall);
    if (options.cut?.(passedCall)) {
      answer.resume();
      response.destroy();
      return;
    }
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  passed.on('error', () => response.destroy());
  request.pipe(passed);
}

function toKubeconfig(server: string, token: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'proxy', cluster: { server } }],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'proxy', user: 'admin' } }],
    'current-context': 'test',
  });
}
