import { taskReader as reader } from '#platform/aws/item-reader.ts';
import type { Item, TimedTable } from '#platform/aws/table.ts';
import {
  type AgentConnection,
  accountConnectionsMax,
  type ConnectionStore,
  connectionLifeMs,
} from '../agent-connections.ts';
import type { AgentSessionStore } from '../agent-session.ts';

/** Rows of one account that are read: more than it may have, for old ones are among them until the table forgets them. */
const rowsMax = 8 * accountConnectionsMax;

function getAccountKey(account: string): string {
  return `CONN#${account}`;
}

/** Connections of agents, in DynamoDB. */
export function createConnectionStore({
  table,
  clock,
  sessions,
}: TimedTable & { readonly sessions: Pick<AgentSessionStore, 'find'> }): ConnectionStore {
  return {
    async add({ id, account, holder, connectedAtMs, ...others }: AgentConnection): Promise<boolean> {
      const session = await sessions.find(others.session);
      if (session === undefined || session.isClosed) return false;
      await table.put({
        pk: getAccountKey(account),
        sk: id,
        ...others,
        holder,
        connectedAt: connectedAtMs,
        expiresAt: Math.ceil((connectedAtMs + connectionLifeMs) / 1000),
      });
      return true;
    },
    async list(account: string): Promise<readonly AgentConnection[]> {
      const rows = await table.query(getAccountKey(account), rowsMax);
      const seconds = clock.now() / 1000;
      return rows
        .filter((row) => reader.getNumber(row, 'expiresAt') > seconds)
        .map((row) => parseConnection(account, row))
        .toSorted((one, other) => other.connectedAtMs - one.connectedAtMs)
        .slice(0, accountConnectionsMax);
    },
    async remove({ account, id }: Pick<AgentConnection, 'account' | 'id'>): Promise<void> {
      await table.delete({ pk: getAccountKey(account), sk: id });
    },
  };
}

function parseConnection(account: string, row: Item): AgentConnection {
  return {
    id: reader.getText(row, 'sk'),
    account,
    session: reader.getText(row, 'session'),
    agentId: reader.getText(row, 'agentId'),
    zone: reader.getText(row, 'zone'),
    transport: reader.getText(row, 'transport'),
    holder: reader.findText(row, 'holder'),
    connectedAtMs: reader.getNumber(row, 'connectedAt'),
  };
}
