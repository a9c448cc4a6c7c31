import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, request as requestHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { TestCluster } from '../../../support/cluster.ts';

/** An API server seen through a door that counts who passes. */
export interface RecordingApi extends AsyncDisposable {
  /** Contents of a kubeconfig that leads through the door. */
  readonly kubeconfig: string;
  /** `GET /api/v1/…` of each request so far, without its query. */
  readonly calls: string[];
  /** Answers with this status instead of passing a request on; undefined passes it on. */
  refuse: ((call: string) => number | undefined) | undefined;
}

/** Opens a door to the test cluster on a free port of 127.0.0.1. */
export async function openRecordingApi(cluster: TestCluster): Promise<RecordingApi> {
  const agent = new Agent({ ca: await readFile(cluster.caFile), keepAlive: true });
  const calls: string[] = [];
  const server = createServer(async (request, response) => {
    const call = `${request.method} ${request.url?.split('?')[0]}`;
    calls.push(call);
    const status = api.refuse?.(call);
    if (status === undefined) await passOn(request, response, { cluster, agent });
    else response.writeHead(status, { 'content-type': 'text/plain' }).end('refused by the test');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const api: RecordingApi = {
    kubeconfig: createKubeconfig(`http://127.0.0.1:${port}`, cluster.token),
    calls,
    refuse: undefined,
    async [Symbol.asyncDispose]() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return api;
}

async function passOn(
  request: IncomingMessage,
  response: ServerResponse,
  { cluster, agent }: { cluster: TestCluster; agent: Agent },
): Promise<void> {
  const body = await buffer(request);
  const { host: _host, ...headers } = request.headers;
  const options = { method: request.method ?? 'GET', headers, agent };
  const call = requestHttps(new URL(request.url ?? '/', cluster.server), options, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  call.once('error', () => response.destroy()).end(body);
}

function createKubeconfig(server: string, token: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server } }],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  });
}
