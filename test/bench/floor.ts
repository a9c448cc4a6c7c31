import { readFile } from 'node:fs/promises';
import { Pool } from 'undici';
import type { Cluster } from '../../infra/local/cluster.ts';
import { toDeployment } from './sample-objects.ts';
import { measure } from './statistics.ts';

/** The bare calls of a deploy, made by the smallest client there is: what no implementation can go below. */
export interface Floor extends AsyncDisposable {
  /** Milliseconds of a GET that finds nothing and a POST. */
  measureNew(name: string): Promise<number>;
  /** Milliseconds of a GET and a PATCH that changes the image. */
  measureChanged(name: string, revision: number): Promise<number>;
  /** Milliseconds of a GET. */
  measureUnchanged(name: string): Promise<number>;
}

/** Opens the bare client. */
export async function openFloor(
  cluster: Pick<Cluster, 'server' | 'caFile' | 'token'>,
  namespace: string,
): Promise<Floor> {
  const pool = new Pool(cluster.server, {
    connections: 1,
    pipelining: 1,
    connect: { ca: await readFile(cluster.caFile, 'utf8') },
  });
  const headers = { authorization: `Bearer ${cluster.token}`, accept: 'application/json' };
  const base = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const call = async (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<void> => {
    const type =
      method === 'PATCH'
        ? { 'content-type': 'application/merge-patch+json' }
        : { 'content-type': 'application/json' };
    const answer = await pool.request({
      method,
      path,
      headers: { ...headers, ...(body && type) },
      ...(body && { body: JSON.stringify(body) }),
    });
    await answer.body.json();
  };
  return {
    measureNew: (name) =>
      measure(async () => {
        await call('GET', `${base}/${name}`);
        await call('POST', base, toDeployment({ namespace, name, revision: 1 }));
      }),
    measureChanged: (name, revision) =>
      measure(async () => {
        await call('GET', `${base}/${name}`);
        const container = { name: 'main', image: `example.invalid/app:${revision}` };
        await call('PATCH', `${base}/${name}`, { spec: { template: { spec: { containers: [container] } } } });
      }),
    measureUnchanged: (name) => measure(() => call('GET', `${base}/${name}`)),
    [Symbol.asyncDispose]: () => pool.close(),
  };
}
