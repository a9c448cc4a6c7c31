import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import {
  booleanField,
  intField,
  nameListField,
  objectField,
  parseWith,
  requireField,
  stringField,
  withDefault,
} from '#settings/coerce.ts';
import { getSetting, toCanonicalKey } from '#settings/spring-config.ts';
import type { ImageBinding } from '../manifest/artifacts.ts';
import { findServerGroupKind, type ServerGroupKind, serverGroupKinds } from './v1-rules.ts';

/** The settings that apply to all Kubernetes accounts. The names are Clouddriver's; see `fields` for the defaults. */
export interface KubernetesSettings {
  /** False leaves out every account. Default: true; Clouddriver's is false. */
  readonly enabled: boolean;
  readonly cache: CacheSettings;
  /** Whether deployed objects get Kubernetes' recommended labels. */
  readonly applyAppLabels: boolean;
  /** Appended to `spinnaker` in the label `app.kubernetes.io/managed-by`. */
  readonly managedBySuffix: string;
  readonly dockerImageBinding: ImageBinding;
  /** False leaves the pods out of a job's status. */
  readonly detailedPodStatus: boolean;
  /** The kind that `createServerGroup` of V1 accounts makes if neither the request nor the account names one. */
  readonly v1ServerGroupKind: ServerGroupKind;
  /** The registry of V1 accounts' images that name none. */
  readonly defaultRegistry: string;
  /** How long one call to a cluster may take at most. */
  readonly operationTimeoutMs: number;
}

/** What is cached of each account. */
export interface CacheSettings {
  readonly enabled: boolean;
  /** True caches every kind. */
  readonly cacheAll: boolean;
  /** Kinds to cache; undefined for those that Deck shows. */
  readonly cacheKinds: readonly string[] | undefined;
  readonly cacheOmitKinds: readonly string[];
  /** The most accounts watched where `cacheMode` does not decide; the others' caching agents run in turn. */
  readonly streamedAccountsMax: number;
  /** True caches only what belongs to an application that Front50 knows. */
  readonly checkApplicationInFront50: boolean;
}

/**
 * Accounts that may be watched by default: as many as the workers of the queue `agent-streams` hold (20 workers of 50 caching agents, of
 * which each account may have two) while all of them hand over at once.
 */
export const streamedAccountsMax = 250;

const flag = (fallback: boolean) => withDefault(booleanField(), fallback);

/** Fields by their path in the configuration, which is how messages name them. */
const fields = {
  'kubernetes.enabled': flag(true),
  'kubernetes.loadNamespacesInAccount': flag(true),
  'kubernetes.verifyAccountHealth': flag(true),
  'kubernetes.cache.enabled': flag(true),
  'kubernetes.cache.cacheAll': flag(false),
  'kubernetes.cache.cacheKinds': nameListField(),
  'kubernetes.cache.cacheOmitKinds': withDefault(nameListField(), []),
  'kubernetes.cache.checkApplicationInFront50': flag(false),
  'kubernetes.cache.streamedAccountsMax': withDefault(
    intField({ min: 0, max: streamedAccountsMax }),
    streamedAccountsMax,
  ),
  'kubernetes.v2.apply-app-labels': flag(true),
  'kubernetes.v2.managed-by-suffix': withDefault(stringField(), ''),
  'kubernetes.v1.server-group-kind': stringField(),
  'kubernetes.default-registry': withDefault(stringField(), 'gcr.io'),
  'kubernetes.artifact-binding.docker-image': stringField(),
  'kubernetes.search.enabled': flag(true),
  'kubernetes.jobs.detailed-pod-status': flag(true),
  'jobs.local.timeout-minutes': withDefault(intField({ min: 1, max: 24 * 60 }), 10),
};

/** Paths of the settings that apply to all accounts. None of them holds a secret. */
export const kubernetesSettingPaths: readonly string[] = Object.keys(fields);

/**
 * Reads the settings that apply to all accounts.
 *
 * @throws InvalidInputError naming each setting that is wrong, by its path.
 */
export function parseKubernetesSettings(settings: JsonObject): KubernetesSettings {
  const input = Object.fromEntries(Object.keys(fields).map((path) => [path, getSetting(settings, path)]));
  const values = parseWith(requireField(objectField(fields)), input, '');
  return {
    enabled: values['kubernetes.enabled'],
    cache: {
      enabled: values['kubernetes.cache.enabled'],
      cacheAll: values['kubernetes.cache.cacheAll'],
      cacheKinds: values['kubernetes.cache.cacheKinds'],
      cacheOmitKinds: values['kubernetes.cache.cacheOmitKinds'],
      checkApplicationInFront50: values['kubernetes.cache.checkApplicationInFront50'],
      streamedAccountsMax: values['kubernetes.cache.streamedAccountsMax'],
    },
    applyAppLabels: values['kubernetes.v2.apply-app-labels'],
    managedBySuffix: values['kubernetes.v2.managed-by-suffix'],
    dockerImageBinding: parseDockerImageBinding(values['kubernetes.artifact-binding.docker-image']),
    detailedPodStatus: values['kubernetes.jobs.detailed-pod-status'],
    v1ServerGroupKind: parseServerGroupKind(values['kubernetes.v1.server-group-kind']),
    defaultRegistry: values['kubernetes.default-registry'] || 'gcr.io',
    operationTimeoutMs: values['jobs.local.timeout-minutes'] * 60_000,
  };
}

function parseServerGroupKind(text: string | undefined): ServerGroupKind {
  const kind = findServerGroupKind(text || 'ReplicaSet');
  if (kind) return kind;
  throw new InvalidInputError(
    `kubernetes.v1.server-group-kind: expected one of ${serverGroupKinds.join(', ')}`,
  );
}

const dockerImageBindings: readonly ImageBinding[] = ['match-name-and-tag', 'match-name-only'];

/** Spring binds names of enumerations in any case, with or without dashes. */
function parseDockerImageBinding(text: string | undefined): ImageBinding {
  const wanted = toCanonicalKey(text ?? 'match-name-and-tag');
  const binding = dockerImageBindings.find((known) => toCanonicalKey(known) === wanted);
  if (binding) return binding;
  throw new InvalidInputError(
    `kubernetes.artifact-binding.docker-image: expected one of ${dockerImageBindings.join(', ')}`,
  );
}
