import { getHeaderKey } from '#tasks/aws/task-items.ts';
import type { AgentProcess } from '#test/support/agents/agent-process.ts';
import { changeStored } from '#test/support/agents/stored-change.ts';
import type { System } from '#test/support/system/system.ts';
import type { Deploy } from './deploys.ts';

/** Lets the leases of deploys end that agents have who are dead, as time would half a minute later; nothing else changes. */
export async function endLeasesOfDead(
  system: System,
  deploys: readonly Deploy[],
  dead: readonly AgentProcess[],
): Promise<void> {
  const log = await system.readLog();
  const sessions = dead.flatMap((agent) => listSessions(agent.log));
  const agentIds = new Set(sessions.map((session) => findAgentId(log, session)));
  const changes = deploys.flatMap(({ taskId }) =>
    [...agentIds].map((agentId) => ({
      ...{
        tableName: system.stores.tasksTable,
        key: getHeaderKey(taskId),
        attribute: 'leaseUntil',
        value: 0,
      },
      onlyIf: { attribute: 'ownerId', contains: `@${agentId}` },
    })),
  );
  await changeStored(system.stores, changes);
}

function listSessions(log: string): readonly string[] {
  const lines = log.split('\n').filter((line) => line.includes('"session with Busdriver"'));
  return lines.map((line) => (JSON.parse(line) as { session: string }).session);
}

/** Who opened a session, as Busdriver's log tells. */
function findAgentId(log: string, session: string): string {
  const line = log.split('\n').find((each) => each.includes('opened a session') && each.includes(session));
  if (line === undefined) throw new Error(`nobody opened the session ${session}`);
  return (JSON.parse(line) as { agentId: string }).agentId;
}
