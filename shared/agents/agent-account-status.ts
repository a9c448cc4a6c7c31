import type { AgentEnrolment } from './agent-enrolment.ts';
import { type AgentSession, isConnected } from './agent-session.ts';

/**
 * How an account is that agents serve, in the words of Armory's plug-in: `INACTIVE` no agent is let in, `ACTIVATING` one is but none came
 * yet, `ACTIVE` one is connected, `ORPHANED` none is any more.
 */
export type AgentAccountStatus = 'INACTIVE' | 'ACTIVATING' | 'ACTIVE' | 'ORPHANED';

/** Inputs of the status. */
export interface AgentAccountFacts {
  readonly enrolment: Pick<AgentEnrolment, 'isRevoked' | 'changes'>;
  /** Its sessions, those that ended among them as far as they are remembered. */
  readonly sessions: readonly Pick<AgentSession, 'isClosed' | 'seenAtMs' | 'openedAtMs'>[];
  readonly nowMs: number;
}

/** How an account is that agents serve. */
export function getAgentAccountStatus({ enrolment, sessions, nowMs }: AgentAccountFacts): AgentAccountStatus {
  const { isRevoked, changes } = enrolment;
  if (isRevoked) return 'INACTIVE';
  if (sessions.some((session) => isConnected(session, nowMs))) return 'ACTIVE';
  const enrolledAtMs = changes.find(({ event }) => event === 'enrolled')?.atMs ?? 0;
  // Sessions are forgotten after a day; that an account was bound to a cluster is not.
  const wasServed =
    changes[0]?.event === 'bound' || sessions.some(({ openedAtMs }) => openedAtMs >= enrolledAtMs);
  return wasServed ? 'ORPHANED' : 'ACTIVATING';
}
