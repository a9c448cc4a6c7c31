import type { JsonObject } from '#core/json.ts';
import type { Moniker } from '#core/moniker.ts';
import type { SpinnakerKind } from '../kinds/kind.ts';
import type { TextMap } from '../manifest/annotations.ts';
import type { V1Facts } from './v1-facts.ts';

/**
 * What the cache keeps of one Kubernetes object: only what some view shows or is joined by, and the object itself for V1 accounts
 * alone. Nothing in it is secret.
 */
export interface ObjectFacts {
  /** Spinnaker's name of the kind: `replicaSet`, `CronTab.stable.example.com`. */
  readonly kind: string;
  /** Spinnaker's class of the kind, as the account's configuration has it. */
  readonly spinnakerKind: SpinnakerKind;
  /** In lower case: `apps/v1`. */
  readonly apiVersion: string;
  /** Empty for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** As the API server wrote it. Versions of one object are ordered as whole numbers. */
  readonly resourceVersion: string;
  /** When it was created, in epoch milliseconds; a whole number of seconds, as Kubernetes counts. */
  readonly createdTime?: number | undefined;
  readonly labels: TextMap;
  readonly moniker: Moniker;
  readonly owners: readonly OwnerFacts[];
  /** Present for server groups, and for them only. */
  readonly workload?: WorkloadFacts;
  /** Present for pods, and for them only. */
  readonly pod?: PodFacts;
  /** Present for services, and for them only. */
  readonly service?: ServiceFacts;
  /** Present for ingresses, and for them only. */
  readonly ingress?: IngressFacts;
  /** Present for network policies, and for them only. */
  readonly networkPolicy?: NetworkPolicyFacts;
  /** Present for objects of V1 accounts, and for them only. */
  readonly v1?: V1Facts;
  /** The object itself, of a V1 account. Rows do not have it: it is kept once, with the object. */
  readonly object?: JsonObject;
}

/** An owner that an object names. */
export interface OwnerFacts {
  /** Spinnaker's name of the kind. */
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  /** Whether it is of a kind that manages server groups, as a Deployment is. */
  readonly isManager: boolean;
}

/** What is particular to a server group. */
export interface WorkloadFacts {
  /** `spec.replicas`; absent where the kind has none, as DaemonSets and Jobs. */
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

/** What is particular to a pod. */
export interface PodFacts {
  /** `status.phase`; empty before the first status. */
  readonly phase: string;
  /** The containers that its status reports, init containers aside. */
  readonly containers: readonly ContainerFacts[];
}

/** One container of a pod. */
export interface ContainerFacts {
  readonly name: string;
  readonly isReady: boolean;
}

/** What is particular to a service. */
export interface ServiceFacts {
  /** The labels of the pods it sends traffic to; empty when it selects none. */
  readonly selector: TextMap;
}

/** What is particular to an ingress. */
export interface IngressFacts {
  /** The names of the services it sends traffic to, each once. */
  readonly services: readonly string[];
}

/** What is particular to a network policy. */
export interface NetworkPolicyFacts {
  readonly inbound: readonly PortFacts[];
  readonly outbound: readonly PortFacts[];
}

/** Ports that a network policy lets through. */
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
  /** Of the server group itself. */
  readonly facts: ObjectFacts;
  /** Of its pods. */
  readonly instances: readonly ObjectFacts[];
}
