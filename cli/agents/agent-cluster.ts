import { homedir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  CoreV1Api,
  type KubernetesObject,
  KubernetesObjectApi,
  OpenidApi,
  PatchStrategy,
  type V1Pod,
  WellKnownApi,
} from '@kubernetes/client-node';
import { getErrorMessage } from '#core/errors.ts';
import { asJsonArray, asJsonObject, asString, getPath, type JsonObject } from '#core/json.ts';
import { KubernetesApiError } from '#providers/kubernetes/api/errors.ts';
import type { ClusterApis } from '#providers/kubernetes/calls/cluster-apis.ts';
import { CliError } from '../cli-error.ts';
import { openCluster } from '../cluster-apis.ts';
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

const fieldManager = 'busdriver-cli';

/** The cluster of agents, as the user of the command reaches it. Disposing cuts the connections. */
export class AgentCluster implements AsyncDisposable {
  readonly #apis: ClusterApis;
  readonly #objects: KubernetesObjectApi;

  private constructor(apis: ClusterApis) {
    this.#apis = apis;
    this.#objects = apis.get(KubernetesObjectApi);
  }

  /** Opens a cluster. @throws CliError where the kubeconfig is of no use */
  static async open({ kubeconfig, context }: ClusterChoice, cli: CliContext): Promise<AgentCluster> {
    const [first = ''] = (cli.environment['KUBECONFIG'] ?? '').split(path.delimiter);
    const chosen = { context, kubeconfig: kubeconfig ?? (first || path.join(homedir(), '.kube/config')) };
    return new AgentCluster(await openCluster(chosen, cli, 'name a kubeconfig by --kubeconfig'));
  }

  /** The issuer of the cluster's service account tokens, and its keys. @throws CliError where that is unknown */
  async readIssuer(): Promise<{ readonly issuer: string; readonly jwks: JsonObject }> {
    // The package calls the answers texts, and reads them as JSON.
    const configuration: unknown = await this.#apis
      .get(WellKnownApi)
      .getServiceAccountIssuerOpenIDConfiguration()
      .catch(fail);
    const keys: unknown = await this.#apis.get(OpenidApi).getServiceAccountIssuerOpenIDKeyset().catch(fail);
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
    const wanted = object as unknown as KubernetesObject & { metadata: { name: string } };
    const dryRun = isDryRun ? 'All' : undefined;
    const before = await this.#objects.read(wanted).catch(ignoreAbsence).catch(fail);
    const patch = this.#objects.patch(
      wanted,
      undefined,
      dryRun,
      fieldManager,
      true,
      PatchStrategy.ServerSideApply,
    );
    // In a dry run its namespace may not be there, for that was not stored either.
    const after = await (isDryRun ? patch.catch(ignoreAbsence) : patch).catch(fail);
    if (after === undefined) return 'left out';
    if (before === undefined) return 'created';
    return isDeepStrictEqual(toOwn(before), toOwn(after)) ? 'unchanged' : 'changed';
  }

  /** Why pods of agents do not run, in words; empty where nothing is known. Never throws. */
  async describePods(namespace: string, name: string): Promise<string> {
    const labelSelector = `app.kubernetes.io/instance=${name}`;
    const pods = await this.#apis
      .get(CoreV1Api)
      .listNamespacedPod({ namespace, labelSelector, limit: 20 })
      .catch(() => undefined);
    if (pods === undefined) return '';
    return [...new Set(pods.items.map(describePod))].join(', ') || 'it has no pod yet';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#apis[Symbol.asyncDispose]();
  }
}

/** An object without what any write changes. */
function toOwn({ metadata, ...object }: KubernetesObject): object {
  return { ...object, status: undefined, labels: metadata?.labels };
}

/** @throws what else went wrong */
function ignoreAbsence(error: unknown): undefined {
  if (!(error instanceof KubernetesApiError) || error.status !== 404) throw error;
}

function fail(error: unknown): never {
  const message = toLine(getErrorMessage(error)).slice(0, 500);
  if (!(error instanceof KubernetesApiError)) throw new CliError(`the cluster: ${message}`, { cause: error });
  const next =
    error.status === 403
      ? 'take a user who may do that; --print prints what is to be applied by somebody'
      : undefined;
  throw new CliError(`the cluster answers ${error.status}: ${message}`, { next });
}

function describePod({ status }: V1Pod): string {
  return status?.containerStatuses?.[0]?.state?.waiting?.reason ?? status?.phase ?? 'unknown';
}
