import { AuthorizationV1Api, VersionApi } from '@kubernetes/client-node';
import { mapConcurrently } from '#core/concurrency.ts';
import { getErrorMessage } from '#core/errors.ts';
import { CliError } from '../cli-error.ts';
import { type KubeconfigChoice, openCluster } from '../cluster-apis.ts';
import type { CliContext } from '../context.ts';
import type { NeededAccess } from './needed-access.ts';

/** Requests of one cluster at a time. */
const requestsAtOnce = 8;
/** Seconds that one of them may take. */
const requestTimeoutSeconds = 30;

/** Which of the verbs are allowed. */
export interface FoundAccess extends NeededAccess {
  readonly missing: readonly string[];
}

/** A cluster, reached as the account reaches it. */
export interface ClusterCaller extends AsyncDisposable {
  /** The namespace of its context. */
  readonly namespace: string;
  /** The version of its API server, and its time by the header `Date`, in ms. @throws CliError */
  getVersion(): Promise<{ readonly version: string; readonly timeMs: number | undefined }>;
  /** Asks for each verb whether it is allowed; without a namespace, in all of them. @throws CliError */
  review(needed: NeededAccess, namespace: string | undefined): Promise<FoundAccess>;
}

/** Opens a cluster, without calling it yet. @throws CliError */
export async function openCaller(
  choice: Omit<KubeconfigChoice, 'requestTimeoutSeconds'>,
  context: Pick<CliContext, 'environment' | 'terminal'>,
): Promise<ClusterCaller> {
  const apis = await openCluster({ ...choice, requestTimeoutSeconds }, context);
  const { namespace } = await apis.locate();
  const reviews = apis.get(AuthorizationV1Api);
  return {
    namespace,
    async getVersion() {
      const { data, headers } = await apis.get(VersionApi).getCodeWithHttpInfo().catch(fail);
      const timeMs = Date.parse(headers['date'] ?? '');
      return { version: data.gitVersion, timeMs: Number.isNaN(timeMs) ? undefined : timeMs };
    },
    async review(needed, where) {
      const { group, verbs } = needed;
      const [resource = '', subresource = ''] = needed.resource.split('/');
      const attributes = { group, resource, subresource, ...(where !== undefined && { namespace: where }) };
      const allowed = await mapConcurrently(verbs, requestsAtOnce, async (verb) => {
        const spec = { resourceAttributes: { ...attributes, verb } };
        const { status } = await reviews.createSelfSubjectAccessReview({ body: { spec } }).catch(fail);
        return status?.allowed === true;
      });
      return { ...needed, missing: verbs.filter((_, index) => allowed[index] !== true) };
    },
    [Symbol.asyncDispose]: () => apis[Symbol.asyncDispose](),
  };
}

function fail(error: unknown): never {
  throw new CliError(getErrorMessage(error), { cause: error });
}
