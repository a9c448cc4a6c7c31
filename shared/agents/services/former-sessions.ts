import type { AccountDefinition, StoredAccount } from '#accounts/model/account-store.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { BaseServices } from '#platform/services/base.ts';
import { plugins } from '#providers/index.ts';
import { endAgents } from '../agent-enrolment.ts';
import { takesAll } from '../identity/agent-identity.ts';
import { openAgentSessions } from '../sessions/agent-sessions.ts';
import { openHints } from '../sessions/hints.ts';
import { openAgentEnrolments } from './agent-enrolments.ts';
import { endSessions } from './ended-sessions.ts';

/** A change of an account that may have agents. */
export interface AgentsChange {
  readonly before: StoredAccount;
  /** Its next definition; undefined for a deletion. */
  readonly after: AccountDefinition | undefined;
  /** The user who makes it; undefined without a name. */
  readonly by: string | undefined;
}

/**
 * Raises the generation of an account's agents if a change takes a proof away that it takes now, so that no session of before is renewed. An added
 * proof ends nothing.
 *
 * @returns what ends these sessions, once the change is stored: those that are opened until then are among them. Undefined where none ends
 * @throws UnavailableError where the store fails: then nothing is to be changed
 */
export async function endFormerSessions(
  { all, clock, log }: BaseServices,
  { before, after, by }: AgentsChange,
): Promise<(() => Promise<void>) | undefined> {
  if (after !== undefined && isTaken(before, after)) return undefined;
  const { name } = before;
  const author = { atMs: clock.now(), by };
  await openAgentEnrolments(all).change(name, (known) => endAgents(known, author));
  return async () => {
    try {
      await endSessions({ sessions: openAgentSessions(all), hints: openHints(all) }, name);
    } catch (error) {
      // Each is over all the same at its next call.
      log.warn('sessions of agents could not be closed', { account: name, cause: getErrorMessage(error) });
    }
  };
}

/** Whether all that proves an agent by one definition does so by another one. A definition that cannot be read proves no agent. */
function isTaken(before: AccountDefinition, after: AccountDefinition): boolean {
  try {
    const [former, now] = [before, after].map(({ type, body }) =>
      plugins.find(({ name }) => name === type)?.agents?.readAuth(body),
    );
    return former === undefined || (now !== undefined && takesAll(now, former));
  } catch {
    return false;
  }
}
