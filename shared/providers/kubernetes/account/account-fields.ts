import { isJsonObject, type JsonValue } from '#core/json.ts';
import type { AccountOptions } from '#provider-kit/stored-accounts.ts';
import { agentWaitSeconds } from '#settings/agent-settings.ts';
import {
  booleanField,
  intField,
  jsonField,
  listOf,
  nameListField,
  parseAt,
  requireField,
  settingsField,
  stringField,
  stringListField,
  withDefault,
} from '#settings/coerce.ts';
import { findReferenceProblems, isSecretReference } from '#settings/secret-reference.ts';
import { joinPath } from '#settings/spring-config.ts';
import { hasPlaceholder } from '#settings/spring-placeholders.ts';

const names = withDefault(nameListField(), []);
const flag = (fallback: boolean) => withDefault(booleanField(), fallback);
const seconds = intField({ min: 0, max: Number.MAX_SAFE_INTEGER });
const requiredText = requireField(stringField());

/** Options within options. */
const nestedShapes = {
  eks: {
    cluster: requiredText,
    region: stringField(),
    roleArn: stringField(),
    sessionName: stringField(),
    externalId: stringField(),
  },
  server: {
    host: requiredText,
    caData: stringField(),
    tokenProvider: stringField(),
    tokenBroker: stringField(),
    bearerToken: stringField(),
  },
  customResources: {
    kubernetesKind: requiredText,
    spinnakerKind: stringField(),
    deployPriority: stringField(),
    versioned: booleanField(),
    namespaced: booleanField(),
  },
  cachingPolicies: {
    kubernetesKind: requiredText,
    maxEntriesPerAgent: requireField(intField({ min: 0 })),
  },
  rawResourcesEndpointConfig: { kindExpressions: names, omitKindExpressions: names },
  dockerRegistries: { accountName: stringField(), namespaces: names },
  agent: {
    auth: requireField(
      settingsField({
        type: withDefault(stringField(), 'serviceAccount'),
        issuer: stringField(),
        subject: stringField(),
        jwks: jsonField(),
        jwksUri: stringField(),
        // A comma in a text separates nothing: subjects have some.
        subjects: stringListField(),
        roleArns: stringListField(),
      }),
    ),
    waitSeconds: intField(agentWaitSeconds),
    minReplicas: withDefault(intField({ min: 1, max: 100 }), 1),
  },
};

/**
 * The settings of one entry of `kubernetes.accounts`, in Clouddriver's names and with its defaults; `eks`, `server`, `kubeconfigSecret`,
 * `insecure`, `noProxy`, `clusterScopedKinds`, `cacheMode`, `readiness`, `serverGroupKind` and `agent` are ours. Obsolete keys are not
 * read.
 */
const accountShape = {
  name: requiredText,
  environment: stringField(),
  accountType: stringField(),
  kubeconfigFile: stringField(),
  kubeconfigContents: stringField(),
  kubeconfigSecret: stringField(),
  eks: settingsField(nestedShapes.eks),
  server: settingsField(nestedShapes.server),
  context: stringField(),
  cluster: stringField(),
  user: stringField(),
  serviceAccount: flag(false),
  insecure: flag(false),
  noProxy: flag(false),
  kubectlRequestTimeoutSeconds: seconds,
  oAuthServiceAccount: stringField(),
  namespaces: names,
  omitNamespaces: names,
  clusterScopedKinds: booleanField(),
  kinds: names,
  omitKinds: names,
  customResources: withDefault(listOf(settingsField(nestedShapes.customResources)), []),
  cachingPolicies: withDefault(listOf(settingsField(nestedShapes.cachingPolicies)), []),
  cacheThreads: withDefault(intField({ min: 0 }), 1),
  cacheIntervalSeconds: seconds,
  cacheMode: withDefault(stringField(), 'automatic'),
  cacheAllApplicationRelationships: flag(false),
  rawResourcesEndpointConfig: settingsField(nestedShapes.rawResourcesEndpointConfig),
  onlySpinnakerManaged: flag(false),
  checkPermissionsOnStartup: flag(true),
  metrics: flag(true),
  readiness: withDefault(stringField(), 'clouddriver'),
  debug: flag(false),
  namingStrategy: withDefault(stringField(), 'kubernetesAnnotations'),
  providerVersion: withDefault(stringField(), 'v2'),
  skin: stringField(),
  dockerRegistries: withDefault(listOf(settingsField(nestedShapes.dockerRegistries)), []),
  configureImagePullSecrets: flag(true),
  serverGroupKind: stringField(),
  agent: settingsField(nestedShapes.agent),
};
const accountField = settingsField(accountShape);

/** The names of an account's options; docs/kubernetes.md describes all of them. */
export const accountOptions = {
  known: Object.keys(accountShape),
  nested: Object.fromEntries(
    Object.entries(nestedShapes).map(([option, shape]) => [option, Object.keys(shape)]),
  ),
  ignored: ['kubectlExecutable', 'liveManifestCalls', 'oAuthScopes', 'type'],
} satisfies AccountOptions;

/** The settings of one account, as they are written. */
export type AccountFields = ReturnType<typeof parseAccountFields>;

/**
 * Reads one entry of `kubernetes.accounts`, found at the path `at`.
 *
 * @throws InvalidInputError with every field of the wrong type.
 */
export function parseAccountFields(entry: JsonValue, at: string) {
  return parseAt(requireField(accountField), entry, at);
}

/**
 * Options that may refer to a secret: their values appear in no answer, message or log. Other options are shown, and so would be a secret
 * in them. See docs/decisions/0056-secrets-stand-where-nothing-shows.md.
 */
const secretOption = /\.(kubeconfig(File|Contents|Secret)|server\.(caData|bearerToken)|eks\.externalId)$/;

/**
 * What makes an account's texts unusable: unset variables, references to secrets in options that are shown, and references of an unknown
 * form. Texts of several lines are files, in which a placeholder may mean something else.
 */
export function findUnusableTexts(value: unknown, path: string): readonly string[] {
  if (Array.isArray(value))
    return value.flatMap((item, index) => findUnusableTexts(item, joinPath(path, index)));
  if (isJsonObject(value)) {
    return Object.entries(value).flatMap(([key, member]) => findUnusableTexts(member, joinPath(path, key)));
  }
  if (typeof value !== 'string') return [];
  if (isSecretReference(value)) {
    if (secretOption.test(path)) return findReferenceProblems(value, path);
    const problem =
      'this setting shows in answers or messages: expected the value itself, no reference to a secret';
    return [`${path}: ${problem}`];
  }
  if (/^(encrypted|encryptedfile|configserver):/i.test(value.trim())) {
    return [
      `${path}: expected a value, or a reference such as encrypted:secrets-manager!r:<region>!s:<secret>`,
    ];
  }
  const isFile = value.includes('\n');
  return !isFile && hasPlaceholder(value)
    ? [`${path}: expected a value, got a placeholder that nothing fills`]
    : [];
}
