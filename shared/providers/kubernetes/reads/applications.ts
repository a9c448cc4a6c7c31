import { getErrorMessage } from '../../../core/errors.ts';
import type { ApplicationClusters } from '../../../core/views.ts';
import type { KubernetesAccount } from '../account.ts';
import type { KubernetesClient } from '../client/client.ts';
import { isResourceNotServed, KubernetesApiError } from '../client/errors.ts';
import { untilAborted } from '../client/until-aborted.ts';
import { isSameKind } from '../kinds/name.ts';
import { annotationKeys, hasAnnotation } from '../manifest/annotations.ts';
import { readMoniker, readNamespace } from '../manifest/identity.ts';
import type { Manifest } from '../manifest/manifest.ts';
import type { KubernetesSession } from '../session.ts';

/** The kinds whose objects are server groups or manage them: what else an application has does not make it one. */
const clusterKinds = ['deployment', 'replicaSet', 'statefulSet', 'daemonSet', 'job', 'cronJob'];
/** For so long an account's answer is used again: Gate and Fiat ask every 30 seconds. */
const memoryMs = 30_000;
const accountTimeoutMs = 10_000;
/** Accounts read at the same time. */
const concurrency = 8;

/** An answer, and when it was asked for. */
interface Remembered {
  readonly readAtMs: number;
  readonly clusters: Promise<readonly ApplicationClusters[]>;
}

/**
 * Makes the function that lists what runs in a session's accounts. It reads the clusters live, metadata alone, and remembers
 * each account's answer for 30 seconds; a cache will take its place.
 */
export function createApplicationLister(
  session: KubernetesSession,
): (signal: AbortSignal) => Promise<ApplicationClusters[]> {
  const memory = new Map<string, Remembered>();
  const read = (account: KubernetesAccount): Promise<readonly ApplicationClusters[]> => {
    const known = memory.get(account.name);
    const now = session.clock.monotonic();
    if (known !== undefined && now - known.readAtMs < memoryMs) return known.clusters;
    const clusters = readAccount(session, account);
    memory.set(account.name, { readAtMs: now, clusters });
    return clusters;
  };
  return async (signal) => (await untilAborted(mapBounded(session.accounts, read), signal)).flat();
}

/** What runs in an account; nothing when that cannot be read, which is logged. */
async function readAccount(
  session: KubernetesSession,
  account: KubernetesAccount,
): Promise<readonly ApplicationClusters[]> {
  const signal = AbortSignal.timeout(accountTimeoutMs);
  try {
    const client = await session.getClient(account);
    const kinds = clusterKinds.filter((kind) => isCached(kind, account));
    const lists = await Promise.all(kinds.map((kind) => listKind({ client, account, kind, signal })));
    return groupByApplication(lists.flat(), account);
  } catch (error) {
    session.log.warn('an account could not be read for the list of applications', {
      account: account.name,
      error: getErrorMessage(error),
    });
    return [];
  }
}

interface KindReading {
  readonly client: KubernetesClient;
  readonly account: KubernetesAccount;
  readonly kind: string;
  readonly signal: AbortSignal;
}

function isCached(kind: string, { caching }: KubernetesAccount): boolean {
  const isNamed = (kinds: readonly string[]) => kinds.some((named) => isSameKind(named, kind));
  return caching.kinds.length > 0 ? isNamed(caching.kinds) : !isNamed(caching.omitKinds);
}

/** The objects of a kind in the account's namespaces; none of a kind that the account may not list or the cluster not have. */
async function listKind({ client, account, kind, signal }: KindReading): Promise<Manifest[]> {
  const namespaces = account.namespaces.length > 0 ? account.namespaces : [undefined];
  try {
    const resource = await client.getResourceOfKind(kind, { signal });
    const lists = await Promise.all(
      namespaces.map((namespace) => client.list({ resource, namespace, metadataOnly: true }, { signal })),
    );
    return lists.flat().filter((object) => !account.omitNamespaces.includes(readNamespace(object)));
  } catch (error) {
    const isForbidden = error instanceof KubernetesApiError && error.status === 403;
    if (isForbidden || isResourceNotServed(error)) return [];
    throw error;
  }
}

function groupByApplication(
  objects: readonly Manifest[],
  { name: account, caching }: KubernetesAccount,
): ApplicationClusters[] {
  const groups = new Map<string, Set<string>>();
  for (const object of objects) {
    const { app, cluster } = readMoniker(object);
    const isLeftOut = caching.onlySpinnakerManaged && !hasAnnotation(object, annotationKeys.application);
    if (!app || !cluster || isLeftOut) continue;
    groups.set(app, (groups.get(app) ?? new Set()).add(cluster));
  }
  return [...groups].map(([application, clusters]) => ({ application, account, clusters: [...clusters] }));
}

/** Maps all items, a bounded number of them at the same time; the answers stand in the order of the items. */
async function mapBounded<T, R>(items: readonly T[], map: (item: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  const queue = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of queue) answers[index] = await map(item);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return answers;
}
