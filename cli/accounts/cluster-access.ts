import { parseAllDocuments } from 'yaml';
import { mapConcurrently } from '#core/concurrency.ts';
import { getErrorMessage } from '#core/errors.ts';
import { asJsonArray, asJsonObject, asString, getPath, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Environment } from '#platform/config.ts';
import { CliError } from '../cli-error.ts';
import { readSmallFile } from '../small-file.ts';
import type { Terminal } from '../terminal.ts';

/** Requests of one cluster at a time. */
const requestsAtOnce = 8;
/** Milliseconds that one of them may take. */
const timeoutMs = 30_000;
/** Bytes of the largest answer. */
const answerBytesMax = 1024 * 1024;

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

/** Which context of which kubeconfig. */
export interface ClusterChoice {
  readonly kubeconfig: string;
  readonly context?: string | undefined;
}

/** Opens a cluster, without calling it yet. */
export async function openCluster(
  { kubeconfig, context }: ClusterChoice,
  { environment, terminal }: { readonly environment: Environment; readonly terminal: Terminal },
): Promise<ClusterCaller> {
  // Only this command calls clusters: the others start without what that takes.
  const [{ SessionKeeper }, { systemClock }] = await Promise.all([
    import('#providers/kubernetes/transport/session.ts'),
    import('#platform/services/system.ts'),
  ]);
  const silent = () => {};
  const tell = (message: string) => terminal.tell(message);
  const sessions = new SessionKeeper({
    connection: {
      name: kubeconfig,
      kubeconfigFile: kubeconfig,
      context,
      serviceAccount: false,
      placement: 'local',
    },
    clock: systemClock,
    log: { debug: silent, info: silent, warn: tell, error: tell },
    environment,
  });
  try {
    const { connection } = await sessions.get();
    return new OpenCluster(sessions, connection.namespace);
  } catch (error) {
    await sessions.close();
    throw new CliError(getErrorMessage(error), { cause: error });
  }
}

/** The part of an account's sessions that is used. */
type Sessions = InstanceType<typeof import('#providers/kubernetes/transport/session.ts')['SessionKeeper']>;

class OpenCluster implements ClusterCaller {
  readonly namespace: string;
  readonly #sessions: Sessions;
  readonly #wire = import('#providers/kubernetes/transport/exchange.ts');

  constructor(sessions: Sessions, namespace: string) {
    this.#sessions = sessions;
    this.namespace = namespace;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sessions.close();
  }

  async getVersion() {
    const { body, date } = await this.#call('GET', '/version');
    const timeMs = Date.parse(date);
    return {
      version: asString(getPath(body, 'gitVersion')) ?? 'unknown',
      timeMs: Number.isNaN(timeMs) ? undefined : timeMs,
    };
  }

  async review(needed: NeededAccess, namespace: string | undefined): Promise<FoundAccess> {
    const { group, resource, verbs } = needed;
    const [name, subresource] = resource.split('/');
    const allowed = await mapConcurrently(verbs, requestsAtOnce, async (verb) => {
      const attributes = { verb, group, resource: name, subresource, namespace };
      const { body } = await this.#call('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes: attributes },
      });
      return getPath(body, 'status', 'allowed') === true;
    });
    return { ...needed, missing: verbs.filter((_, index) => allowed[index] !== true) };
  }

  async #call(method: 'GET' | 'POST', path: string, sent?: unknown) {
    const { connection, dispatcher, headers } = await this.#sessions.get();
    const { origin, basePath } = connection;
    const { exchange } = await this.#wire;
    const answer = await exchange({
      dispatcher,
      origin,
      path: basePath + path,
      method,
      headers: { ...headers, ...(sent !== undefined && { 'content-type': 'application/json' }) },
      body: sent === undefined ? undefined : JSON.stringify(sent),
      account: connection.label,
      answerBytesMax,
      timeoutMs,
      signal: undefined,
    }).catch((error: unknown) => {
      throw new CliError(`${origin}: ${getErrorMessage(error)}`, { cause: error });
    });
    answer.release();
    if (answer.status >= 300) throw new CliError(`${origin} answers ${answer.status} to ${method} ${path}`);
    return { body: this.#parse(answer.body.toString('utf8'), origin), date: answer.headers.date ?? '' };
  }

  #parse(text: string, origin: string): JsonValue {
    try {
      return JSON.parse(text);
    } catch {
      throw new CliError(`${origin} answers something else than JSON`);
    }
  }
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
