import { mapConcurrently } from '#core/concurrency.ts';
import {
  type AgentCluster,
  type AgentEnrolment,
  bindCluster,
  findEnrolmentFault,
} from '../agent-enrolment.ts';
import type { SessionAccount } from '../agent-session.ts';
import type { Hello } from '../protocol/messages.ts';
import type { AgentHub } from '../services/agent-hub.ts';

/** Accounts that are looked up at a time. */
const accountsAtOnce = 16;

/** The accounts that are let in, and those that are not though the proof is good. */
export interface Admission {
  readonly accounts: readonly SessionAccount[];
  /** By the names of accounts: why they are refused. */
  readonly refused: ReadonlyMap<string, string>;
}

/**
 * Lets agents in to the accounts whose agents they have proved to be, but where these are revoked, or were enrolled for another cluster.
 * The first agent that reports an account's cluster binds the account to it.
 */
export async function admit(
  { enrolments, clock, log }: Pick<AgentHub, 'enrolments' | 'clock' | 'log'>,
  hello: Hello,
  proved: readonly Omit<SessionAccount, 'generation'>[],
): Promise<Admission> {
  const told = new Map(hello.accounts.map((account) => [account.name, toCluster(account)]));
  const refused = new Map<string, string>();
  const accounts = await mapConcurrently(proved, accountsAtOnce, async ({ name, ...proof }) => {
    const cluster = told.get(name) ?? toCluster({});
    const before = await enrolments.find(name);
    const change = (state: AgentEnrolment) => bindCluster(state, cluster, { atMs: clock.now() });
    const state = change(before) === undefined ? before : await enrolments.change(name, change);
    const fault = findEnrolmentFault(name, state, cluster);
    if (fault === undefined) return [{ name, ...proof, generation: state.generation }];
    log.warn('an agent was refused', { agentId: hello.agentId, account: name, reason: fault });
    refused.set(name, fault);
    return [];
  });
  return { accounts: accounts.flat(), refused };
}

/** The accounts whose agents are still those that were let in: neither revoked since, nor moved to another cluster. */
export async function listUnrevoked(
  { enrolments }: Pick<AgentHub, 'enrolments'>,
  accounts: readonly SessionAccount[],
): Promise<readonly SessionAccount[]> {
  const states = await mapConcurrently(accounts, accountsAtOnce, ({ name }) => enrolments.find(name));
  return accounts.filter(({ generation }, index) => states[index]?.generation === generation);
}

function toCluster({
  clusterUid = '',
  kubeHost = '',
  certFingerprint = '',
  kubeVersion = '',
}: Partial<Hello['accounts'][number]>): AgentCluster {
  return { uid: clusterUid, host: kubeHost, certFingerprint, version: kubeVersion };
}
