import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Pool } from 'undici';
import { parse } from 'yaml';
import type { Cluster } from '#infra/tools/test-cluster/cluster.ts';

/** How to reach the control plane, with all rights. */
export type ClusterAccess = Pick<Cluster, 'kubeconfig' | 'server' | 'caFile' | 'token'>;

/**
 * The access to a control plane that runs in a folder, as `npm run cluster -- --dir DIR` leaves it there.
 *
 * @throws Error when no control plane has been started in the folder
 */
export async function loadClusterAccess(dir: string): Promise<ClusterAccess> {
  const kubeconfig = path.resolve(dir, 'kubeconfig');
  try {
    const config = parse(await readFile(kubeconfig, 'utf8')) as {
      clusters: { cluster: { server: string } }[];
    };
    const server = config.clusters[0]?.cluster.server ?? '';
    const token = await readFile(path.resolve(dir, 'pki', 'admin-token'), 'utf8');
    return { kubeconfig, server, token, caFile: path.resolve(dir, 'pki', 'ca.crt') };
  } catch (error) {
    throw new Error(`--cluster: expected the folder of 'npm run cluster -- --dir ${dir}'`, { cause: error });
  }
}

/** Sends requests to the API server. Disposing closes its connections. */
export interface ClusterClient extends AsyncDisposable {
  /**
   * @param body sent as JSON; for PATCH as a JSON merge patch
   * @returns the parsed answer
   * @throws Error with the answer when its status is none of 2xx and none of `accepted`
   */
  call(request: ClusterRequest): Promise<unknown>;
}

export interface ClusterRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  /** A further status that is as expected, such as 404. */
  readonly accepted?: number;
}

export async function openClusterClient(
  { server, caFile, token }: ClusterAccess,
  connections = 1,
): Promise<ClusterClient> {
  const connect = { ca: await readFile(caFile, 'utf8') };
  const pool = new Pool(server, { connections, pipelining: 1, connect });
  return {
    async call({ method, path, body, accepted }) {
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
      const answer = await pool.request({
        method,
        path,
        headers: { authorization: `Bearer ${token}`, accept: 'application/json', 'content-type': type },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await answer.body.text();
      const { statusCode } = answer;
      if (statusCode >= 300 && statusCode !== accepted)
        throw new Error(`${method} ${path}: ${statusCode} ${text.slice(0, 500)}`);
      return JSON.parse(text);
    },
    [Symbol.asyncDispose]: () => pool.close(),
  };
}
