import { toCanonicalKey } from '#settings/spring-config.ts';
import { findNamespaceProblem } from '../api/names.ts';
import type { AccountFields } from './account-fields.ts';

/** The kinds that a V1 account's `createServerGroup` can make if the request names none. */
export const serverGroupKinds = ['ReplicaSet', 'ReplicationController'] as const;

/** A kind that `createServerGroup` makes by itself. */
export type ServerGroupKind = (typeof serverGroupKinds)[number];

/** A registry whose images an account runs, and in which namespaces. */
export interface LinkedRegistry {
  /** Name of its account, and of the pull secrets created from it. */
  readonly accountName: string;
  /** Empty for all namespaces of the account. */
  readonly namespaces: readonly string[];
}

/** The additional rules of an account of Spinnaker's Kubernetes V1 provider. */
export interface V1Rules {
  /** Undefined to use `kubernetes.v1.server-group-kind`. */
  readonly serverGroupKind: ServerGroupKind | undefined;
  /** At least one. */
  readonly registries: readonly LinkedRegistry[];
  /** Whether the registries' pull secrets are created, and added to pods. */
  readonly configuresPullSecrets: boolean;
  /** True for `namespaces: ["*"]`. Otherwise an account that names none uses its kubeconfig's context's, or `default`. */
  readonly usesAllNamespaces: boolean;
}

/** Stands for all namespaces in `namespaces` of a V1 account. */
const allNamespaces = '*';

/** The version of Spinnaker's provider that an account is for: `v1`, `v2`; undefined for a text that is neither. */
export function findProviderVersion({
  providerVersion,
}: Pick<AccountFields, 'providerVersion'>): 'v1' | 'v2' | undefined {
  const version = providerVersion.trim().toLowerCase();
  return version === 'v1' || version === 'v2' ? version : undefined;
}

/** The kind that a text names in any spelling that Spring accepts; undefined for any other text. */
export function findServerGroupKind(text: string): ServerGroupKind | undefined {
  return serverGroupKinds.find((kind) => toCanonicalKey(kind) === toCanonicalKey(text.trim()));
}

/** The namespaces that an account names: none where it names all. */
export function listNamedNamespaces({ namespaces }: Pick<AccountFields, 'namespaces'>): readonly string[] {
  return namespaces.filter((namespace) => namespace !== allNamespaces);
}

/** What is wrong with the fields of an account that only V1 accounts have; each begins with the path of its setting. */
export function findV1Conflicts(fields: AccountFields): readonly string[] {
  const version = findProviderVersion(fields);
  if (version === undefined) return ['providerVersion: expected v1 or v2'];
  if (version === 'v2') return [];
  const { dockerRegistries, namespaces, serverGroupKind, name } = fields;
  const conflicts: string[] = [];
  if (dockerRegistries.length === 0)
    conflicts.push(`dockerRegistries: Docker registries for Kubernetes account ${name} are required`);
  for (const [index, registry] of dockerRegistries.entries()) {
    const at = `dockerRegistries[${index}]`;
    if (!registry.accountName?.trim())
      conflicts.push(`${at}.accountName: expected the name of a registry's account`);
    for (const [place, namespace] of registry.namespaces.entries()) {
      const problem = findNamespaceProblem(namespace);
      if (problem !== undefined) conflicts.push(`${at}.namespaces[${place}]: ${problem}`);
    }
  }
  if (namespaces.includes(allNamespaces) && namespaces.length > 1)
    conflicts.push(`namespaces: expected nothing beside "${allNamespaces}", which stands for all`);
  if (serverGroupKind && findServerGroupKind(serverGroupKind) === undefined)
    conflicts.push(`serverGroupKind: expected one of ${serverGroupKinds.join(', ')}`);
  return conflicts;
}

/** The rules of a V1 account that has no conflicts; undefined for any other account. */
export function findV1Rules(fields: AccountFields): V1Rules | undefined {
  if (findProviderVersion(fields) !== 'v1') return undefined;
  return {
    serverGroupKind: findServerGroupKind(fields.serverGroupKind ?? ''),
    registries: fields.dockerRegistries.map(({ accountName = '', namespaces }) => ({
      accountName,
      namespaces,
    })),
    configuresPullSecrets: fields.configureImagePullSecrets,
    usesAllNamespaces: fields.namespaces.includes(allNamespaces),
  };
}

/** The names of the pull secrets of pods in a namespace, in the order of their names. */
export function listPullSecrets(rules: V1Rules, namespace: string): readonly string[] {
  if (!rules.configuresPullSecrets) return [];
  const linked = rules.registries.filter(
    ({ namespaces }) => namespaces.length === 0 || namespaces.includes(namespace),
  );
  return [...new Set(linked.map(({ accountName }) => accountName))].toSorted();
}
