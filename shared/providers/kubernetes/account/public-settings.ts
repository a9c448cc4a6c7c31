import type { Account } from '#accounts/model/account.ts';
import { asJsonArray, type JsonObject, type JsonValue } from '#core/json.ts';
import type { OpenedAccounts } from '#provider-kit/provider.ts';
import { pickSettings } from '#settings/public-settings.ts';
import { getSetting, mergeDocuments } from '#settings/spring-config.ts';
import { findEntryName } from './account.ts';
import { type AccountFields, parseAccountFields } from './account-fields.ts';
import { kubernetesSettingPaths } from './account-settings.ts';

/**
 * Which options of an account are public. A new option must say so here: `false` for options that hold a credential or say where one is,
 * and for those needed only to reach the cluster.
 */
export const publicAccountOptions: { readonly [option in keyof AccountFields]: boolean } = {
  name: true,
  environment: true,
  accountType: true,
  kubeconfigFile: false,
  kubeconfigContents: false,
  kubeconfigSecret: false,
  eks: false,
  server: false,
  context: false,
  cluster: false,
  user: false,
  serviceAccount: false,
  insecure: false,
  noProxy: false,
  kubectlRequestTimeoutSeconds: false,
  oAuthServiceAccount: false,
  namespaces: true,
  omitNamespaces: true,
  kinds: true,
  omitKinds: true,
  clusterScopedKinds: true,
  customResources: true,
  cachingPolicies: true,
  cacheThreads: true,
  cacheIntervalSeconds: true,
  cacheMode: true,
  cacheAllApplicationRelationships: true,
  rawResourcesEndpointConfig: true,
  onlySpinnakerManaged: true,
  checkPermissionsOnStartup: true,
  metrics: true,
  readiness: true,
  debug: true,
  namingStrategy: true,
  providerVersion: true,
  skin: true,
  dockerRegistries: true,
  configureImagePullSecrets: true,
  serverGroupKind: true,
  agent: true,
};

/**
 * The settings of Kubernetes without credentials: those for all accounts, and each accepted account's public options as they were parsed,
 * which leaves out unknown members at every depth.
 */
export function toPublicSettings(
  settings: JsonObject,
  { accounts }: Pick<OpenedAccounts, 'accounts'>,
  storedAccounts: readonly JsonObject[] = [],
): JsonObject {
  const left = new Map(accounts.map((account) => [account.name.trim(), account]));
  const entries = [...storedAccounts, ...asJsonArray(getSetting(settings, 'kubernetes.accounts'))];
  const shown = entries.flatMap((entry): JsonObject[] => {
    // The first of a name is the one that counts, as when it was accepted.
    const name = findEntryName(entry) ?? '';
    const account = left.get(name);
    left.delete(name);
    return account === undefined ? [] : [toPublicAccount(entry, account)];
  });
  const shared = pickSettings(settings, kubernetesSettingPaths);
  return mergeDocuments([shared, { kubernetes: { accounts: shown } }]);
}

function toPublicAccount(entry: JsonValue, account: Account): JsonObject {
  const fields = Object.entries(parseAccountFields(entry, ''))
    .filter(([option, value]) => publicAccountOptions[option as keyof AccountFields] && value !== undefined)
    .map(([option, value]) => [option, toPlain(value)] as const);
  const { permissions, requiredGroupMembership } = account;
  // If only the legacy list of groups was given, permissions are derived from it again.
  const isLegacy = requiredGroupMembership.length > 0;
  return {
    ...Object.fromEntries(fields),
    ...(permissions && !isLegacy && { permissions: toPlain(permissions) }),
    requiredGroupMembership: [...requiredGroupMembership],
  };
}

/** The value without members that are undefined. */
function toPlain(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}
