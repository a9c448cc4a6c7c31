import { describeSeen } from '#tasks/task-inbox.ts';
import { type AgentSession, isConnected } from './agent-session.ts';

/** Milliseconds for which an operation may be open before it shows: agents ask each two seconds. */
export const lateTaskMs = 10 * 60_000;

/** Inputs of the health of an account's agents. */
export interface AgentHealthInputs {
  readonly sessions: readonly AgentSession[];
  readonly isRevoked: boolean;
  /** Format of journals that an agent must write to be granted anything. */
  readonly journalFormat: number;
  /** Replicas that are to be connected. */
  readonly minReplicas: number;
  /** Since when the oldest operation is open; undefined where none is. */
  readonly waitingSinceMs: number | undefined;
  readonly nowMs: number;
}

/** How the agents of an account are. */
export interface AgentHealth {
  readonly state: 'UP' | 'DEGRADED' | 'DISCONNECTED' | 'OUTDATED';
  /** Undefined where all is well. */
  readonly reason: string | undefined;
  readonly connected: number;
  /** When one was heard of last; undefined where none was in the last day. */
  readonly lastSeenMs: number | undefined;
}

/** How the agents of an account are: the worst that can be said of them. */
export function describeAgentHealth(inputs: AgentHealthInputs): AgentHealth {
  const { sessions, nowMs } = inputs;
  const connected = sessions.filter((session) => isConnected(session, nowMs));
  const [last] = sessions.toSorted((one, other) => other.seenAtMs - one.seenAtMs);
  return { ...judge(inputs, connected, last), connected: connected.length, lastSeenMs: last?.seenAtMs };
}

function judge(
  { isRevoked, journalFormat, minReplicas, waitingSinceMs, nowMs }: AgentHealthInputs,
  connected: readonly AgentSession[],
  last: AgentSession | undefined,
): Pick<AgentHealth, 'state' | 'reason'> {
  if (isRevoked) return { state: 'DISCONNECTED', reason: 'its agents are revoked' };
  if (connected.length === 0) {
    const seen = describeSeen(last && { ...last, isConnected: false });
    return { state: 'DISCONNECTED', reason: `no agent of it is connected; ${seen}` };
  }
  const useful = connected.filter((session) => session.journalFormat === journalFormat).length;
  if (useful === 0) {
    return { state: 'OUTDATED', reason: 'its agents are of another release: install that of this server' };
  }
  if (useful < minReplicas) {
    return {
      state: 'DEGRADED',
      reason: `${useful} of ${minReplicas} replicas of its agent are connected`,
    };
  }
  const waitMs = waitingSinceMs === undefined ? 0 : nowMs - waitingSinceMs;
  if (waitMs < lateTaskMs) return { state: 'UP', reason: undefined };
  const minutes = Math.floor(waitMs / 60_000);
  return { state: 'DEGRADED', reason: `an operation has been open for ${minutes} minutes` };
}
