import { mapConcurrently } from '#core/concurrency.ts';
import type { TimedTable } from '#platform/aws/table.ts';
import type { AgentDirectory } from '../agent-directory.ts';
import { type AgentSession, type AgentSessionStore, sessionTokenMs } from '../agent-session.ts';
import { sessionListKey } from './agent-session-store.ts';

/** Rows that are looked at for one page: most are of sessions that are over, where agents come and go. */
const rowsMax = 2_000;

/** Rows of one agent that are looked at. */
const agentRowsMax = 200;

/** Rows that are read at a time, and sessions. */
const pageRows = 200;
const readsMax = 16;

/** Sorts behind the rows of an agent, and before those of any other: `#` follows its id there. */
const behind = '$';

/** The list of sessions, in DynamoDB. Its rows are verified against the sessions. */
export function createAgentDirectory({
  table,
  clock,
  sessions,
}: TimedTable & { readonly sessions: Pick<AgentSessionStore, 'find'> }): AgentDirectory {
  return {
    async list({ limit, after }) {
      const newest = new Map<string, AgentSession>();
      let start = after === undefined ? undefined : `${after}${behind}`;
      for (let looked = 0; looked < rowsMax; looked += pageRows) {
        const keys = await listKeys(pageRows, start);
        for (const session of await findLive(keys)) keepNewest(newest, session);
        // The last agent of a full page may have more rows: those of the page before it are whole.
        const isEnd = keys.length < pageRows;
        const found = [...newest.values()];
        if (found.length > limit) {
          const page = found.slice(0, limit);
          return { sessions: page, next: page.at(-1)?.agentId };
        }
        if (isEnd) return { sessions: found, next: undefined };
        start = keys.at(-1);
      }
      // An agent whose rows were cut comes again with the next page.
      const last = toAgentId(start ?? '');
      const found = [...newest.values()];
      const whole = found.filter(({ agentId }) => agentId !== last);
      if (whole.length === 0) return { sessions: found, next: last };
      return { sessions: whole, next: whole.at(-1)?.agentId };
    },
    async listOf(agentId) {
      const prefix = `${agentId}#`;
      const keys = await listKeys(agentRowsMax, prefix);
      const own = keys.filter((key) => key.startsWith(prefix));
      const sessions = await findLive(own);
      return sessions.toSorted((one, other) => other.openedAtMs - one.openedAtMs);
    },
  };

  async function listKeys(limit: number, after?: string): Promise<readonly string[]> {
    const rows = await table.query(sessionListKey, limit, after);
    return rows.map((row) => String(row['sk']));
  }

  /** The sessions of some rows that may go on: their last token may still hold. */
  async function findLive(keys: readonly string[]): Promise<readonly AgentSession[]> {
    const found = await mapConcurrently(keys, readsMax, (key) => sessions.find(key.split('#').at(-1) ?? ''));
    const nowMs = clock.now();
    return found.filter(
      (session): session is AgentSession =>
        session !== undefined && !session.isClosed && nowMs - session.seenAtMs < sessionTokenMs,
    );
  }
}

function toAgentId(key: string): string {
  return key.split('#')[0] ?? '';
}

function keepNewest(sessions: Map<string, AgentSession>, session: AgentSession): void {
  const known = sessions.get(session.agentId);
  if (known === undefined || known.openedAtMs < session.openedAtMs) sessions.set(session.agentId, session);
}
