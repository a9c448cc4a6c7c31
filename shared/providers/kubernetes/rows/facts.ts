import type { Moniker } from '#core/frigga.ts';
import type { JsonObject } from '#core/json.ts';
import type { SpinnakerKind } from '../kinds/kind.ts';
import type { TextMap } from '../manifest/annotations.ts';
import type { V1Facts } from './v1-facts.ts';

/**
 * What the cache keeps of one Kubernetes object: only what views show or join by, and for V1 accounts the object itself. It contains no
 * secrets.
 */
export interface ObjectFacts {
  /** Spinnaker's name of the kind: `replicaSet`, `CronTab.stable.example.com`. */
  readonly kind: string;
  /** Spinnaker's class of the kind, by the account's configuration. */
  readonly spinnakerKind: SpinnakerKind;
  /** In lower case: `apps/v1`. */
  readonly apiVersion: string;
  /** Empty for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** As the API server wrote it. Versions of one object are ordered as whole numbers. */
  readonly resourceVersion: string;
  /** When it was created, in epoch milliseconds; in whole seconds, as in Kubernetes. */
  readonly createdTime?: number | undefined;
  readonly labels: TextMap;
  readonly moniker: Moniker;
  readonly owners: readonly OwnerFacts[];
  /** Present only for server groups. */
  readonly workload?: WorkloadFacts;
  /** Present only for pods. */
  readonly pod?: PodFacts;
  /** Present only for services: the labels of the pods it sends traffic to; empty if it selects none. */
  readonly service?: { readonly selector: TextMap };
  /** Present only for ingresses: the names of the services it sends traffic to, each once. */
  readonly ingress?: { readonly services: readonly string[] };
  /** Present only for network policies. */
  readonly networkPolicy?: {
    readonly inbound: readonly PortFacts[];
    readonly outbound: readonly PortFacts[];
  };
  /** Present only for objects of V1 accounts. */
  readonly v1?: V1Facts;
  /** The object itself, for V1 accounts. Rows omit it: it is stored once, with the object. */
  readonly object?: JsonObject;
}

/** An owner that an object names. */
export interface OwnerFacts {
  /** Spinnaker's name of the kind. */
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  /** Whether its kind manages server groups, as a Deployment does. */
  readonly isManager: boolean;
}

/** Facts of a server group. */
export interface WorkloadFacts {
  /** `spec.replicas`; absent for kinds without it, such as DaemonSets and Jobs. */
  readonly replicas?: number;
  /** The images of its pod template, each once: containers, then init containers. */
  readonly images: readonly string[];
  /** The labels of its pod template, by which services select its pods. */
  readonly podLabels: TextMap;
  /** The load balancers (`service web`) that its traffic annotation names. */
  readonly loadBalancers: readonly string[];
  /** The service that governs a StatefulSet. */
  readonly serviceName?: string;
}

/** Facts of a pod. */
export interface PodFacts {
  /** `status.phase`; empty before the first status. */
  readonly phase: string;
  /** The containers that its status reports, without init containers. */
  readonly containers: readonly ContainerFacts[];
}

/** One container of a pod. */
export interface ContainerFacts {
  readonly name: string;
  readonly isReady: boolean;
}

/** Ports that a network policy allows. */
export interface PortFacts {
  /** `TCP`, `UDP` or `SCTP`. */
  readonly protocol?: string;
  /** A number, or the name of a container's port; absent for all ports. */
  readonly port?: number | string;
  /** The last port of a range that begins at `port`. */
  readonly endPort?: number;
}

/** A server group with the pods it owns. */
export interface ServerGroupFacts {
  /** The server group's own facts. */
  readonly facts: ObjectFacts;
  /** Facts of its pods. */
  readonly instances: readonly ObjectFacts[];
}
