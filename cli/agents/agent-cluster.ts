import { homedir } from 'node:os';
import path from 'node:path';
import { getErrorMessage } from '#core/errors.ts';
import { asJsonArray, asJsonObject, asString, getPath, isSameJson, type JsonObject } from '#core/json.ts';
import type { PlainAnswer, PlainCall, PlainCalls } from '#providers/kubernetes/calls/plain-calls.ts';
import { CliError } from '../cli-error.ts';
import { openCalls } from '../cluster-calls.ts';
import type { CliContext } from '../context.ts';
import { toLine } from '../terminal.ts';

/** Which cluster, by which user. */
export interface ClusterChoice {
  /** Default: that of `KUBECONFIG`, then the user's own. */
  readonly kubeconfig?: string | undefined;
  /** Default: its current context. */
  readonly context?: string | undefined;
}

/** The outcome of applying an object. */
export type ApplyOutcome = 'created' | 'changed' | 'unchanged' | 'left out';

/** The path of objects of a kind in the API. */
const resources: { readonly [kind: string]: readonly [prefix: string, plural: string] } = {
  Namespace: ['/api/v1', 'namespaces'],
  ServiceAccount: ['/api/v1', 'serviceaccounts'],
  ConfigMap: ['/api/v1', 'configmaps'],
  Deployment: ['/apis/apps/v1', 'deployments'],
  PodDisruptionBudget: ['/apis/policy/v1', 'poddisruptionbudgets'],
  ClusterRole: ['/apis/rbac.authorization.k8s.io/v1', 'clusterroles'],
  ClusterRoleBinding: ['/apis/rbac.authorization.k8s.io/v1', 'clusterrolebindings'],
  RoleBinding: ['/apis/rbac.authorization.k8s.io/v1', 'rolebindings'],
};

const fieldManager = 'busdriver-cli';

/** The cluster of agents, as the user of the command reaches it. Disposing cuts the connections. */
export class AgentCluster implements AsyncDisposable {
  readonly #calls: PlainCalls;

  private constructor(calls: PlainCalls) {
    this.#calls = calls;
  }

  /** Opens a cluster. @throws CliError where the kubeconfig is of no use */
  static async open({ kubeconfig, context }: ClusterChoice, cli: CliContext): Promise<AgentCluster> {
    const [first = ''] = (cli.environment['KUBECONFIG'] ?? '').split(path.delimiter);
    const chosen = { context, kubeconfig: kubeconfig ?? (first || path.join(homedir(), '.kube/config')) };
    return new AgentCluster(await openCalls(chosen, cli, 'name a kubeconfig by --kubeconfig'));
  }

  /** The issuer of the cluster's service account tokens, and its keys. @throws CliError where that is unknown */
  async readIssuer(): Promise<{ readonly issuer: string; readonly jwks: JsonObject }> {
    const configuration = await this.#get('/.well-known/openid-configuration');
    const keys = await this.#get('/openid/v1/jwks', 'application/jwk-set+json');
    const issuer = asString(getPath(configuration, 'issuer'));
    const jwks = asJsonObject(keys);
    if (issuer === undefined || jwks === undefined || asJsonArray(jwks['keys']).length === 0)
      throw new CliError('the API server does not name the issuer of its service account tokens');
    return { issuer, jwks: { keys: asJsonArray(jwks['keys']) } };
  }

  /**
   * Applies an object by server-side apply: of what is there only its own fields are changed.
   *
   * @param isDryRun whether nothing is stored
   * @throws CliError as the API server answers
   */
  async apply(object: JsonObject, isDryRun: boolean): Promise<ApplyOutcome> {
    const target = toPath(object);
    const before = await this.#send({ path: target });
    if (![200, 404].includes(before.status)) throw refuse('GET', target, before);
    const query = `fieldManager=${fieldManager}&force=true${isDryRun ? '&dryRun=All' : ''}`;
    const contentType = 'application/apply-patch+yaml';
    const answer = await this.#send({
      method: 'PATCH',
      path: `${target}?${query}`,
      body: object,
      contentType,
    });
    // Its namespace is not there yet, for that was not stored either.
    if (isDryRun && answer.status === 404) return 'left out';
    if (answer.status >= 300) throw refuse('PATCH', target, answer);
    if (before.status === 404) return 'created';
    return isSameJson(toOwn(before), toOwn(answer)) ? 'unchanged' : 'changed';
  }

  /** Why pods of agents do not run, in words; empty where nothing is known. Never throws. */
  async describePods(namespace: string, name: string): Promise<string> {
    const selector = encodeURIComponent(`app.kubernetes.io/instance=${name}`);
    const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=${selector}&limit=20`;
    const answer = await this.#send({ path }).catch(() => undefined);
    if (answer?.status !== 200) return '';
    const states = asJsonArray(getPath(answer.body, 'items')).map(describePod);
    return states.length === 0 ? 'it has no pod yet' : [...new Set(states)].join(', ');
  }

  async #get(path: string, accept?: string): Promise<PlainAnswer['body']> {
    const answer = await this.#send({ path, ...(accept !== undefined && { accept }) });
    if (answer.status !== 200) throw refuse('GET', path, answer);
    return answer.body;
  }

  async #send(call: PlainCall): Promise<PlainAnswer> {
    try {
      return await this.#calls.call(call);
    } catch (error) {
      throw new CliError(`the cluster: ${getErrorMessage(error)}`, { cause: error });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#calls[Symbol.asyncDispose]();
  }
}

function toPath(object: JsonObject): string {
  const [prefix, plural] = resources[String(object['kind'])] ?? ['', ''];
  const namespace = asString(getPath(object, 'metadata', 'namespace'));
  const where = namespace === undefined ? '' : `/namespaces/${namespace}`;
  return `${prefix}${where}/${plural}/${String(getPath(object, 'metadata', 'name'))}`;
}

/** An object without what any write changes. */
function toOwn({ body }: PlainAnswer): JsonObject {
  const { metadata, status: _, ...own } = asJsonObject(body) ?? {};
  return { ...own, labels: getPath(metadata, 'labels') ?? null };
}

function refuse(method: string, path: string, { status, body }: PlainAnswer): CliError {
  const message = asString(getPath(body, 'message')) ?? '';
  const next =
    status === 403
      ? 'take a user who may do that; --print prints what is to be applied by somebody'
      : undefined;
  return new CliError(
    `the cluster answers ${status} to ${method} ${path}${message && `: ${toLine(message).slice(0, 500)}`}`,
    { next },
  );
}

function describePod(pod: unknown): string {
  const [container] = asJsonArray(getPath(pod as JsonObject, 'status', 'containerStatuses'));
  const reason = asString(getPath(container, 'state', 'waiting', 'reason'));
  const phase = asString(getPath(pod as JsonObject, 'status', 'phase')) ?? 'unknown';
  return reason ?? phase;
}
