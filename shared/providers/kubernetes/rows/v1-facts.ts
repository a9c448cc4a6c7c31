/** The state of a pod's container. */
export interface V1ContainerFacts {
  readonly image: string;
  readonly isReady: boolean;
  /** Undefined if the state is not reported. */
  readonly state: 'running' | 'waiting' | 'terminated' | undefined;
  /** Why it waits, or ended. */
  readonly reason?: string;
  /** Present only for one that ended. */
  readonly exitCode?: number;
}

/** Additional facts that views of V1 accounts show of a pod. */
export interface V1PodFacts {
  /** When it started, epoch milliseconds. */
  readonly startedMs?: number;
  /** The reason of its first condition. */
  readonly reason?: string;
  /** The containers that its status reports. */
  readonly containers: readonly V1ContainerFacts[];
}

/** Additional facts that views of V1 accounts show of an object. */
export interface V1Facts {
  /** Value of the annotation of a server group that is behind no load balancer; omitted if there is none. */
  readonly isEnabled?: boolean;
  /** Present only for pods. */
  readonly pod?: V1PodFacts;
}
