import { KubeConfig, makeInformer } from '@kubernetes/client-node';
import { getErrorMessage } from '#core/errors.ts';
import { asJsonArray, asString, getPath } from '#core/json.ts';
import { parseApiError } from '#providers/kubernetes/api/errors.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { type ClusterApis, explainFailure } from '#providers/kubernetes/calls/cluster-apis.ts';

/** Which objects to watch. */
export interface ObjectWatch {
  /** Path of their collection. */
  readonly path: string;
  /** Called with all of them: once they are listed, and when one has changed. */
  onObjects(objects: readonly Manifest[]): void;
  readonly signal: AbortSignal;
}

/**
 * Lists the objects of a collection, and watches them by the informer of `@kubernetes/client-node`. A watch goes on where the last one
 * ended, or was silent for 30 seconds; what the API server has forgotten is listed again.
 *
 * @throws what ended it: KubernetesApiError, KubernetesConnectionError, or the signal's reason
 */
export async function watchObjects(
  apis: ClusterApis,
  { path, onObjects, signal }: ObjectWatch,
): Promise<never> {
  const config = await toKubeConfig(apis);
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const end = () => reject(signal.reason);
  signal.addEventListener('abort', end);
  const informer = makeInformer(config, path, async () => {
    const found = await list(apis, path, signal);
    onObjects(found.items);
    return found;
  });
  informer.on('error', (error) => void explain(error, apis).then(reject, reject));
  const started = informer.start();
  try {
    await Promise.race([ended, started]);
    onObjects(informer.list());
    informer.on('change', () => onObjects(informer.list()));
    return await ended;
  } finally {
    signal.removeEventListener('abort', end);
    // One that is stopped while it lists watches all the same.
    void started.then(() => informer.stop(), getErrorMessage);
  }
}

/** The package gets credentials with each watch: it reads no files. Where there are none the API server refuses it. */
async function toKubeConfig(apis: ClusterApis): Promise<KubeConfig> {
  const { connection } = await apis.getSession();
  const { ca = '', rejectUnauthorized } = connection.tls;
  const config = new KubeConfig();
  const name = 'own';
  const caData = Buffer.from(ca).toString('base64');
  const cluster = { name, server: connection.origin, caData, skipTLSVerify: !rejectUnauthorized };
  config.loadFromClusterAndUser(cluster, { name });
  config.addAuthenticator({
    isAuthProvider: () => true,
    async applyAuthentication(_user, request) {
      // Nothing would handle an error here.
      const { headers } = await apis.getSession().catch(() => ({ headers: {} }));
      Object.assign(request, { headers });
    },
  });
  return config;
}

/** By our own calls, which are bounded: the package gives up no call, and reads an answer of any size. */
async function list(apis: ClusterApis, path: string, signal: AbortSignal) {
  const answer = await apis.read(path, signal);
  const resourceVersion = asString(getPath(answer, 'metadata', 'resourceVersion')) ?? '';
  return { metadata: { resourceVersion }, items: asJsonArray(getPath(answer, 'items')) as Manifest[] };
}

/** An error of the package, in the words of all that call API servers. */
async function explain(error: unknown, apis: ClusterApis): Promise<unknown> {
  if (!(error instanceof Error)) return error;
  if ('statusCode' in error) return parseApiError(Number(error.statusCode), getErrorMessage(error));
  const isOwn = error.name.startsWith('Kubernetes');
  return isOwn ? error : explainFailure(error.cause ?? error, await apis.getSession());
}
