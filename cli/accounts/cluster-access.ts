import { parseAllDocuments } from 'yaml';
import { mapConcurrently } from '#core/concurrency.ts';
import { getErrorMessage } from '#core/errors.ts';
import { asJsonArray, asJsonObject, asString, getPath, type JsonObject } from '#core/json.ts';
import { toAccessReview } from '#providers/kubernetes/calls/access-review.ts';
import type { PlainCall } from '#providers/kubernetes/calls/plain-calls.ts';
import { CliError } from '../cli-error.ts';
import { type CallsChoice, openCalls } from '../cluster-calls.ts';
import type { CliContext } from '../context.ts';
import { readSmallFile } from '../small-file.ts';

/** Requests of one cluster at a time. */
const requestsAtOnce = 8;
/** Seconds that one of them may take. */
const requestTimeoutSeconds = 30;

/** Something that Busdriver does in clusters, as the examples of RBAC grant it. */
export interface NeededAccess {
  /** `read` or `deploy`. */
  readonly role: string;
  readonly group: string;
  /** With its subresource: `pods/log`. */
  readonly resource: string;
  readonly verbs: readonly string[];
}

/** Which of the verbs are allowed. */
export interface FoundAccess extends NeededAccess {
  readonly missing: readonly string[];
}

/** A cluster, reached as the account reaches it. */
export interface ClusterCaller extends AsyncDisposable {
  /** The namespace of its context. */
  readonly namespace: string;
  /** The version of its API server, and its time by the header `Date`, in ms. */
  getVersion(): Promise<{ readonly version: string; readonly timeMs: number | undefined }>;
  /** Asks for each verb whether it is allowed; without a namespace, in all of them. */
  review(needed: NeededAccess, namespace: string | undefined): Promise<FoundAccess>;
}

/** Opens a cluster, without calling it yet. @throws CliError */
export async function openCluster(
  choice: Omit<CallsChoice, 'requestTimeoutSeconds'>,
  context: Pick<CliContext, 'environment' | 'terminal'>,
): Promise<ClusterCaller> {
  const calls = await openCalls({ ...choice, requestTimeoutSeconds }, context);
  const { url, namespace } = await calls.locate();
  const { origin } = new URL(url);
  const call = async (wanted: PlainCall) => {
    const { status, body, date } = await calls.call(wanted).catch((error: unknown) => {
      throw new CliError(`${origin}: ${getErrorMessage(error)}`, { cause: error });
    });
    const { method = 'GET', path } = wanted;
    if (status >= 300) throw new CliError(`${origin} answers ${status} to ${method} ${path}`);
    if (body === undefined) throw new CliError(`${origin} answers something else than JSON`);
    return { body, date };
  };
  return {
    namespace,
    async getVersion() {
      const { body, date } = await call({ path: '/version' });
      const timeMs = Date.parse(date);
      return {
        version: asString(getPath(body, 'gitVersion')) ?? 'unknown',
        timeMs: Number.isNaN(timeMs) ? undefined : timeMs,
      };
    },
    async review(needed, where) {
      const { group, verbs } = needed;
      const [resource = '', subresource] = needed.resource.split('/');
      const allowed = await mapConcurrently(verbs, requestsAtOnce, async (verb) => {
        const review = toAccessReview({ verb, group, resource, subresource, namespace: where });
        return getPath((await call(review)).body, 'status', 'allowed') === true;
      });
      return { ...needed, missing: verbs.filter((_, index) => allowed[index] !== true) };
    },
    [Symbol.asyncDispose]: () => calls[Symbol.asyncDispose](),
  };
}

/** The rules of a ClusterRole in a file of examples. @param role how they are called */
export async function readNeededAccess(file: string, role: string): Promise<readonly NeededAccess[]> {
  const documents = parseAllDocuments((await readSmallFile(file)).toString('utf8'));
  const objects = documents.flatMap((document): JsonObject[] => {
    const object = asJsonObject(document.toJS());
    return object?.['kind'] === 'ClusterRole' ? [object] : [];
  });
  const toTexts = (value: unknown) => asJsonArray(value).map(String);
  return objects
    .flatMap((object) => asJsonArray(object['rules']))
    .flatMap((rule) =>
      toTexts(getPath(rule, 'apiGroups')).flatMap((group) =>
        toTexts(getPath(rule, 'resources')).map((resource) => ({
          role,
          group,
          resource,
          verbs: toTexts(getPath(rule, 'verbs')),
        })),
      ),
    );
}
