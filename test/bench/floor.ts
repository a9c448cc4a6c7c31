import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type ClusterAccess, openClusterClient } from './cluster-access.ts';
import { toDeployment } from './sample-objects.ts';
import { measure } from './statistics.ts';

/** The bare calls of a deploy and of a live read, made by the smallest client there is: what no implementation can go below. */
export interface Floor extends AsyncDisposable {
  /** Milliseconds of a GET that finds nothing and a POST. */
  measureNew(name: string): Promise<number>;
  /** Milliseconds of a GET and a PATCH that changes the image. */
  measureChanged(name: string): Promise<number>;
  /** Milliseconds of a GET. */
  measureUnchanged(name: string): Promise<number>;
}

export async function openFloor(cluster: ClusterAccess, namespace: string): Promise<Floor> {
  const client = await openClusterClient(cluster);
  const base = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const read = (name: string, accepted?: number): Promise<unknown> =>
    client.call({ method: 'GET', path: `${base}/${name}`, ...(accepted && { accepted }) });
  return {
    measureNew: (name) =>
      measure(async () => {
        await read(name, 404);
        const body = toDeployment({ namespace, name, revision: 1 });
        await client.call({ method: 'POST', path: base, body });
      }),
    measureChanged: (name) =>
      measure(async () => {
        await read(name);
        const container = { name: 'main', image: 'example.invalid/app:2' };
        const body = { spec: { template: { spec: { containers: [container] } } } };
        await client.call({ method: 'PATCH', path: `${base}/${name}`, body });
      }),
    measureUnchanged: (name) => measure(() => read(name)),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

/** An HTTP server that answers `[]`, in a process of its own. */
export interface EmptyServer extends AsyncDisposable {
  readonly url: string;
}

/** Starts an empty server: what no HTTP server on Node can go below. */
export async function startEmptyServer(): Promise<EmptyServer> {
  const child = fork(join(import.meta.dirname, 'empty-server.ts'));
  const [port] = await once(child, 'message');
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      // 'close' never comes of a child whose channel is closed from here.
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
