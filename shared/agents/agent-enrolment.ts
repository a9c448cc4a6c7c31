/** A cluster, as agents in it report it. Unknown facts are empty texts. */
export interface AgentCluster {
  /** UID of its namespace `kube-system`, which no two clusters share. */
  readonly uid: string;
  /** Address of its API server, as agents reach it. */
  readonly host: string;
  /** SHA-256 of the certificate that its API server shows: hexadecimal, with colons. */
  readonly certFingerprint: string;
  /** Version of its API server: `v1.34.1`. */
  readonly version: string;
}

/**
 * A change of the agents of an account: `bound` to a cluster by the first of them that reported one; `enrolled` for the cluster that the
 * next one reports, or again after they were `revoked`; `ended`, for the account does not take the proof any more by which some of them were let
 * in, or was deleted.
 */
export const enrolmentEvents = ['bound', 'enrolled', 'revoked', 'ended'] as const;

/** One of them. */
export type EnrolmentEvent = (typeof enrolmentEvents)[number];

/** One of these. */
export interface EnrolmentChange {
  readonly event: EnrolmentEvent;
  readonly atMs: number;
  /** The caller; undefined for an agent, and where the caller gave no name. */
  readonly by: string | undefined;
  /** UID of the cluster from then on; empty for none. */
  readonly clusterUid: string;
}

/** The enrolment of an account's agents, beside its settings. */
export interface AgentEnrolment {
  /** Rises whenever sessions of before are to end. */
  readonly generation: number;
  /** Whether no agent is let in until they are enrolled again. */
  readonly isRevoked: boolean;
  /** The cluster that the account is for; undefined before an agent reported one. */
  readonly cluster: AgentCluster | undefined;
  /** The last changes, newest first. */
  readonly changes: readonly EnrolmentChange[];
  /** Why it cannot be read: another release wrote it. No agent is let in by it, and it stays as it is. Left out where it can. */
  readonly unreadable?: string;
}

/** Changes that are remembered of one account. */
export const enrolmentChangesMax = 50;

/** The enrolment of an account without a stored one: its agents are let in, whatever the cluster. */
export const noEnrolment: AgentEnrolment = {
  generation: 0,
  isRevoked: false,
  cluster: undefined,
  changes: [],
};

/** Enrolments of the agents of accounts, in a durable store. Every change is one conditional write of one item. */
export interface AgentEnrolmentStore {
  /** The enrolment of an account's agents. */
  find(account: string): Promise<AgentEnrolment>;
  /**
   * Makes one change, however many others are made at the same time.
   *
   * @param change what becomes of it; undefined where nothing is to change
   * @returns what holds now
   * @throws UnavailableError when others keep changing it, ConflictError for one that cannot be read
   */
  change(
    account: string,
    change: (before: AgentEnrolment) => AgentEnrolment | undefined,
  ): Promise<AgentEnrolment>;
}

/** When a change is made, and by whom. */
export interface EnrolmentAuthor {
  readonly atMs: number;
  readonly by?: string | undefined;
}

/** Binds an account to the cluster that an agent reports, if it reports any and none is bound. @returns undefined for no change */
export function bindCluster(
  before: AgentEnrolment,
  cluster: AgentCluster,
  { atMs }: EnrolmentAuthor,
): AgentEnrolment | undefined {
  const { uid } = cluster;
  if (before.isRevoked || uid === '') return undefined;
  if (before.cluster === undefined)
    return { ...addChange(before, { event: 'bound', atMs, by: undefined, clusterUid: uid }), cluster };
  // The same cluster, which has moved or was upgraded.
  const isSame = before.cluster.uid === uid;
  const isNews = isSame && JSON.stringify(before.cluster) !== JSON.stringify(cluster);
  return isNews ? { ...before, cluster } : undefined;
}

/** Lets no agent in any more, and ends the sessions of those that are. Repeating it ends them again. */
export function revokeAgents(before: AgentEnrolment, { atMs, by }: EnrolmentAuthor): AgentEnrolment {
  const clusterUid = before.cluster?.uid ?? '';
  const after = addChange(before, { event: 'revoked', atMs, by, clusterUid });
  return { ...after, isRevoked: true, generation: before.generation + 1 };
}

/** Lets agents in again. @param replace whether to forget the cluster: the next to report binds it, and sessions of before end */
export function enrolAgents(
  before: AgentEnrolment,
  replace: boolean,
  { atMs, by }: EnrolmentAuthor,
): AgentEnrolment {
  const cluster = replace ? undefined : before.cluster;
  const after = addChange(before, { event: 'enrolled', atMs, by, clusterUid: cluster?.uid ?? '' });
  return { ...after, cluster, isRevoked: false, generation: before.generation + (replace ? 1 : 0) };
}

/** Ends the sessions of agents, who may prove themselves again. Repeating it ends them again. */
export function endAgents(before: AgentEnrolment, { atMs, by }: EnrolmentAuthor): AgentEnrolment {
  const clusterUid = before.cluster?.uid ?? '';
  return {
    ...addChange(before, { event: 'ended', atMs, by, clusterUid }),
    generation: before.generation + 1,
  };
}

/** Why an agent of a cluster is not let in though it proves that it is one of the account; undefined where it is. */
export function findEnrolmentFault(
  account: string,
  { isRevoked, cluster, unreadable }: AgentEnrolment,
  told: Pick<AgentCluster, 'uid'>,
): string | undefined {
  if (unreadable !== undefined) return `the enrolment of account ${account} cannot be read: ${unreadable}`;
  if (isRevoked) {
    return `the agents of account ${account} are revoked: busdriver agent enroll ${account} lets them in again`;
  }
  if (cluster === undefined || told.uid === '' || told.uid === cluster.uid) return undefined;
  return (
    `account ${account} is enrolled for another cluster (uid ${cluster.uid}): ` +
    `busdriver agent enroll ${account} --replace moves it to this one`
  );
}

function addChange(before: AgentEnrolment, change: EnrolmentChange): AgentEnrolment {
  return { ...before, changes: [change, ...before.changes].slice(0, enrolmentChangesMax) };
}
