/** How a container of a pod fares. */
export interface V1ContainerFacts {
  readonly image: string;
  readonly isReady: boolean;
  /** Undefined for one whose state is not told. */
  readonly state: 'running' | 'waiting' | 'terminated' | undefined;
  /** Why it waits, or ended. */
  readonly reason?: string;
  /** Of one that ended. */
  readonly exitCode?: number;
}

/** What views of V1 accounts show of a pod besides. */
export interface V1PodFacts {
  /** When it began, epoch milliseconds. */
  readonly startedMs?: number;
  /** The reason of its first condition. */
  readonly reason?: string;
  /** The containers that its status reports. */
  readonly containers: readonly V1ContainerFacts[];
}

/** What views of V1 accounts show of an object besides. */
export interface V1Facts {
  /** What the annotation of a server group says that is behind no load balancer; left out where there is none. */
  readonly isEnabled?: boolean;
  /** Present for pods, and for them only. */
  readonly pod?: V1PodFacts;
}
