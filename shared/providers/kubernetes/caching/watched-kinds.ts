import type { ScopedKind } from '#caching/engine/scope-source.ts';
import { isV1Account, type KubernetesAccount } from '../account/account.ts';
import type { CacheSettings } from '../account/account-settings.ts';
import { getBuiltInResource } from '../api/built-in-resources.ts';
import type { ApiResource, KubernetesClient } from '../api/client.ts';
import { KubernetesApiError } from '../api/errors.ts';
import { getKindName, toKindKey } from '../kinds/name.ts';
import { listCachedKinds } from '../rows/cached-kinds.ts';
import { v1CachedKinds } from '../rows/v1-resources.ts';
import type { WatchClient } from '../watch/watch-client.ts';
import { isCustomKind, type KindFamily } from './kind-families.ts';

/** A kind that a caching agent keeps cached; its name is Spinnaker's, as the objects have it: `replicaSet`, `CronTab.stable.example.com`. */
export interface WatchedKind extends ScopedKind {
  readonly resource: ApiResource;
  /** False for a kind that is needed but shown in no view: the namespaces of an account that names none. Only their names are cached. */
  readonly isWanted: boolean;
  /** Whether only the metadata of its objects is ever read. Default: false. */
  readonly isMetadataOnly?: boolean;
}

/** Options of selecting kinds. */
export interface KindSelection {
  readonly account: KubernetesAccount;
  readonly settings: CacheSettings;
  readonly client: Pick<KubernetesClient, 'getResourceOfKind'>;
  readonly watches: Pick<WatchClient, 'listResources'>;
  readonly signal: AbortSignal;
}

const namespaceKind = 'namespace';

/**
 * The kinds of an account that its caching agent of a family keeps, without those that the cluster does not serve.
 *
 * @throws KubernetesApiError, KubernetesConnectionError, or the signal's reason
 */
export function selectWatchedKinds(selection: KindSelection, family: KindFamily): Promise<WatchedKind[]> {
  return family === 'custom' ? selectCustomKinds(selection) : selectBuiltInKinds(selection);
}

async function selectBuiltInKinds(selection: KindSelection): Promise<WatchedKind[]> {
  const { account, settings } = selection;
  if (isV1Account(account)) return selectV1Kinds(account);
  const { kindRegistry: registry, caching: rules } = account;
  const wanted = listCachedKinds({ registry, definedKinds: [], rules, settings }).filter(
    (kind) => !isCustomKind(kind),
  );
  const needsNamespaces = account.namespaces.length === 0 && !wanted.includes(namespaceKind);
  const all = needsNamespaces ? [namespaceKind, ...wanted] : wanted;
  const found = await Promise.all(all.map((kind) => findResource(selection, kind)));
  return found.flatMap((resource, index) => {
    const isWanted = !(needsNamespaces && index === 0);
    return resource === undefined ? [] : [{ ...toWatched(resource), isWanted }];
  });
}

/** Only the metadata of a Secret is cached: its contents are not even requested. */
function toWatched(resource: ApiResource): Omit<WatchedKind, 'isWanted'> {
  const kind = toKind(resource);
  const { apiVersion, namespaced: isDivided } = resource;
  const isMetadataOnly = kind === 'secret';
  return {
    kind,
    id: `${kind} ${apiVersion}`,
    isDivided,
    resource,
    ...(isMetadataOnly && { isMetadataOnly }),
  };
}

/** The kinds of a V1 account do not depend on settings. */
function selectV1Kinds({ namespaces }: Pick<KubernetesAccount, 'namespaces'>): WatchedKind[] {
  const wanted = v1CachedKinds.map((each) => ({ ...toWatched(each.resource), ...each, isWanted: true }));
  if (namespaces.length > 0) return wanted;
  const resource = getBuiltInResource('v1', 'Namespace');
  return [{ ...toWatched(resource), isWanted: false }, ...wanted];
}

/** Undefined for a kind that the cluster does not serve, such as the removed podPreset. */
async function findResource(
  { client, signal }: KindSelection,
  kind: string,
): Promise<ApiResource | undefined> {
  try {
    return await client.getResourceOfKind(kind, { signal });
  } catch (error) {
    if (error instanceof KubernetesApiError && error.status === 404) return undefined;
    throw error;
  }
}

async function selectCustomKinds({
  account,
  settings,
  watches,
  signal,
}: KindSelection): Promise<WatchedKind[]> {
  const { kindRegistry: registry, caching: rules } = account;
  const served = await watches.listResources({ signal });
  const defined = new Map<string, ApiResource>();
  for (const { resource, isWatchable } of served) {
    const key = toKindKey(toKind(resource));
    if (isWatchable && !resource.builtIn && !defined.has(key)) defined.set(key, resource);
  }
  const definedKinds = [...defined.values()].map(toKind);
  const wanted = new Set(listCachedKinds({ registry, definedKinds, rules, settings }).map(toKindKey));
  return [...defined.values()].flatMap((resource) => {
    const kind = toKind(resource);
    return wanted.has(toKindKey(kind)) ? [{ ...toWatched(resource), isWanted: true }] : [];
  });
}

function toKind({ apiVersion, kind }: ApiResource): string {
  return getKindName(apiVersion, kind);
}
