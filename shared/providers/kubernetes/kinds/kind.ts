import type { Manifest } from '../api/manifest.ts';
import type { ManifestStatus } from './status.ts';

/** Spinnaker's classes of infrastructure. */
export const spinnakerKinds = [
  'instances',
  'configs',
  'serverGroups',
  'loadBalancers',
  'securityGroups',
  'serverGroupManagers',
  'unclassified',
] as const;

/** A class of infrastructure in Spinnaker's words: `serverGroups` for a ReplicaSet, `configs` for a Secret … */
export type SpinnakerKind = (typeof spinnakerKinds)[number];

/** Operations on a kind's objects, besides deploy, delete and patch, which every kind supports. */
export type Capability =
  | 'scale'
  /** The server-group operation. A DaemonSet has it, as in Clouddriver, although it cannot scale. */
  | 'resize'
  | 'pauseRollout'
  | 'resumeRollout'
  | 'undoRollout'
  | 'rollingRestart'
  /** Can be put behind a load balancer. */
  | 'traffic'
  /** Is a load balancer that workloads can be put behind. */
  | 'loadBalances'
  /** Its pods are enabled and disabled along with it. */
  | 'pods';

/** Where a kind refers to artifacts; see `manifest/replacers.ts` for each set. */
export type ReplacerSet = 'none' | 'podTemplate' | 'pod' | 'scaleTarget';

/** All that Busdriver knows about a kind. */
export interface KindDefinition {
  /**
   * Spinnaker's name: `replicaSet`, `horizontalpodautoscaler`. For custom kinds Kubernetes' kind and group, as written:
   * `CronTab.stable.example.com`.
   */
  readonly name: string;
  /** Short names, as in kubectl. */
  readonly aliases: readonly string[];
  /** Kubernetes' spelling (`ReplicaSet`); for kinds outside the table the name as written. */
  readonly kubernetesKind: string;
  /** False for a kind that neither the table nor the account's configuration describes. */
  readonly known: boolean;
  /** Meaningful only for known kinds; others are assumed to be namespaced, and the cluster knows better. */
  readonly namespaced: boolean;
  /** Lower is deployed earlier. */
  readonly deployPriority: number;
  /** False for kinds that only controllers may create. */
  readonly deployable: boolean;
  readonly spinnakerKind: SpinnakerKind;
  /** Whether a deploy makes a new version (`name-v000`) unless asked otherwise. */
  readonly versioned: boolean;
  readonly capabilities: ReadonlySet<Capability>;
  /** Top-level keys that must not appear in task results, events or the cache. */
  readonly sensitiveKeys: readonly string[];
  readonly replacers: ReplacerSet;
  /**
   * The status of a live object.
   *
   * @throws FailedOperationError for an apiVersion whose status it cannot read.
   */
  readonly getStatus: (manifest: Manifest) => ManifestStatus;
}
