import { randomBytes } from 'node:crypto';
import { getPath } from '#core/json.ts';
import { requestApi } from '#test/support/cluster/cluster.ts';
import { findLive } from '../../live.ts';

/** The name of a namespace that is not there. Disposing removes what was made of it. */
export function nameNamespace(): { readonly name: string } & AsyncDisposable {
  const name = `v1-${randomBytes(5).toString('hex')}`;
  return {
    name,
    async [Symbol.asyncDispose]() {
      await requestApi('DELETE', `/api/v1/namespaces/${name}`).catch(() => undefined);
    },
  };
}

/** What the pull secret of a namespace holds; undefined when there is none. */
export async function findDockercfg(namespace: string, name: string): Promise<unknown> {
  const secret = await findLive(namespace, `secrets/${name}`);
  const data = getPath(secret, 'data', '.dockercfg');
  return typeof data === 'string' ? JSON.parse(Buffer.from(data, 'base64').toString('utf8')) : undefined;
}

/** `user:password`, as pull secrets have it. */
export function toAuth(user: string, password: string): string {
  return Buffer.from(`${user}:${password}`).toString('base64');
}
