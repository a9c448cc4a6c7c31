import { AuthorizationV1Api, type V1ResourceAttributes, VersionApi } from '@kubernetes/client-node';
import type { Clock } from '#core/clock.ts';
import { mapConcurrently } from '#core/concurrency.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import { ClusterApis } from '#providers/kubernetes/calls/cluster-apis.ts';
import { type AgentAccount, toConnection } from '../config/agent-config.ts';
import type { CheckRow } from './check-table.ts';

/** Reviews that are asked for at a time. */
const reviewsAtOnce = 8;

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
    await using apis = new ClusterApis({ ...options, connection });
    const { gitVersion = 'of an unknown version' } = await apis.get(VersionApi).getCode();
    const missing = await findMissing(apis, namespace);
    const where = namespace === '' ? 'in all namespaces' : `in namespace ${namespace}`;
    return [
      { what, verdict: 'good', details: `Kubernetes ${gitVersion}` },
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
  apis: ClusterApis,
  namespace: string,
): Promise<(rights: readonly V1ResourceAttributes[]) => readonly V1ResourceAttributes[]> {
  const reviews = apis.get(AuthorizationV1Api);
  const refused = new Set<V1ResourceAttributes>();
  await mapConcurrently([...cachingRights, ...operationRights], reviewsAtOnce, async (right) => {
    const resourceAttributes = { ...right, ...(namespace !== '' && { namespace }) };
    const { status } = await reviews.createSelfSubjectAccessReview({
      body: { spec: { resourceAttributes } },
    });
    if (status?.allowed !== true) refused.add(right);
  });
  return (rights) => rights.filter((right) => refused.has(right));
}

function toRow(
  what: string,
  verdict: CheckRow['verdict'],
  { missing, where }: { readonly missing: readonly V1ResourceAttributes[]; readonly where: string },
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
): readonly V1ResourceAttributes[] {
  return resources.flatMap(([group, resource]) => verbs.map((verb) => ({ verb, group, resource })));
}
