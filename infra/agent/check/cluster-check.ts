import type { Clock, Randomness } from '#core/clock.ts';
import { mapConcurrently } from '#core/concurrency.ts';
import { getErrorMessage } from '#core/errors.ts';
import { asString, getPath } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import { getBuiltInResource } from '#providers/kubernetes/api/built-in-resources.ts';
import type { KubernetesClient } from '#providers/kubernetes/api/client.ts';
import { createKubernetesClient } from '#providers/kubernetes/client/kubernetes-client.ts';
import { type AgentAccount, toConnection } from '../config/agent-config.ts';
import type { CheckRow } from './check-table.ts';

/** Reviews that are asked for at a time. */
const reviewsAtOnce = 8;

/** Requests a second, and at once. */
const budget = { qps: 20, burst: 50 };

/** A right that somebody may have: a verb on a resource of a group, the empty text for Kubernetes' own. */
interface Right {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
}

/** Rights that caching needs at least: without these an application shows nothing. */
const cachingRights = combine(
  ['list', 'watch'],
  [
    ['', 'pods'],
    ['', 'services'],
    ['apps', 'deployments'],
    ['apps', 'replicasets'],
  ],
);

/** Rights that a deployment of the simplest application needs. */
const operationRights = combine(
  ['get', 'create', 'patch', 'delete'],
  [
    ['', 'configmaps'],
    ['', 'services'],
    ['apps', 'deployments'],
  ],
);

/** Dependencies of checking clusters. */
export interface ClusterCheckOptions {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Logger;
  readonly environment: { readonly [name: string]: string | undefined };
}

/**
 * Looks whether the cluster of an account can be reached, and what the agent may do there. Never rejects.
 *
 * @param namespace where rights are asked for; empty: in all namespaces
 */
export async function checkCluster(
  account: AgentAccount,
  namespace: string,
  options: ClusterCheckOptions,
): Promise<readonly CheckRow[]> {
  const { name } = account;
  const what = `cluster of ${name}`;
  try {
    const connection = { ...toConnection(account), requestTimeoutSeconds: 10 };
    await using client = createKubernetesClient({ ...options, connection, budget });
    const version =
      asString(getPath(await client.getJson('/version'), 'gitVersion')) ?? 'of an unknown version';
    const missing = await findMissing(client, namespace);
    const where = namespace === '' ? 'in all namespaces' : `in namespace ${namespace}`;
    return [
      { what, verdict: 'good', details: `Kubernetes ${version}` },
      toRow(`caching of ${name}`, 'bad', { missing: missing(cachingRights), where }),
      // An account may be meant for reading alone.
      toRow(`operations of ${name}`, 'note', { missing: missing(operationRights), where }),
    ];
  } catch (error) {
    return [{ what, verdict: 'bad', details: getErrorMessage(error) }];
  }
}

/** Asks the API server, as `kubectl auth can-i` does. @returns which of some rights are not granted */
async function findMissing(
  client: Pick<KubernetesClient, 'create'>,
  namespace: string,
): Promise<(rights: readonly Right[]) => readonly Right[]> {
  const review = getBuiltInResource('authorization.k8s.io/v1', 'SelfSubjectAccessReview');
  const { apiVersion, kind } = review;
  const refused = new Set<Right>();
  await mapConcurrently([...cachingRights, ...operationRights], reviewsAtOnce, async (right) => {
    const resourceAttributes = { ...right, ...(namespace !== '' && { namespace }) };
    const answer = await client.create(review, { apiVersion, kind, spec: { resourceAttributes } });
    if (getPath(answer, 'status', 'allowed') !== true) refused.add(right);
  });
  return (rights) => rights.filter((right) => refused.has(right));
}

function toRow(
  what: string,
  verdict: CheckRow['verdict'],
  { missing, where }: { readonly missing: readonly Right[]; readonly where: string },
): CheckRow {
  if (missing.length === 0) return { what, verdict: 'good', details: `all rights ${where}` };
  const names = missing.map(
    ({ verb, group, resource }) => `${verb} ${resource}${group === '' ? '' : `.${group}`}`,
  );
  return { what, verdict, details: `not allowed ${where}: ${names.join(', ')}` };
}

function combine(
  verbs: readonly string[],
  resources: readonly (readonly [string, string])[],
): readonly Right[] {
  return resources.flatMap(([group, resource]) => verbs.map((verb) => ({ verb, group, resource })));
}
