import type { Command } from 'commander';
import { type CliContext, isJsonWanted, openClient } from '../context.ts';
import { type Cell, printTable } from '../table.ts';
import type { Style } from '../terminal.ts';
import { formatDuration } from '../time.ts';
import { type AccountAgents, readAllAgents } from './agents-api.ts';

/** Lists the accounts that have agents, and how these are. */
export async function listAgents(context: CliContext, command: Command): Promise<void> {
  const { terminal } = context;
  const client = openClient(context, command);
  const accounts = await terminal.wait(
    () => `reading agents from ${client.url}`,
    () => readAllAgents(client),
  );
  if (isJsonWanted(command)) return terminal.printJson(accounts);
  if (accounts.length === 0) {
    return terminal.tell(`${client.url} has no account with agents. Next: busdriver agent enroll --help`);
  }
  printTable(terminal, {
    headings: ['ACCOUNT', 'STATE', 'CONNECTED', 'VERSION', 'CLUSTER', 'WAITING', 'SEEN'],
    rows: accounts.map(toRow),
  });
}

function toRow(agents: AccountAgents): readonly Cell[] {
  const { account, state, connected, minReplicas, clusterVersion, waiting } = agents;
  const seenAt = Math.max(...agents.agents.map((agent) => agent.seenAt), 0);
  const seen = seenAt === 0 ? '' : `${formatDuration(Math.max(0, Date.now() - seenAt))} ago`;
  const style: Style = connected === 0 ? 'red' : connected < minReplicas ? 'yellow' : 'green';
  return [
    account,
    state === 'revoked' ? { text: state, style: 'red' } : state,
    { text: `${connected}/${minReplicas}`, style },
    listVersions(agents).join(', '),
    clusterVersion,
    String(waiting),
    seen,
  ];
}

/** The versions of the agents that are connected. */
export function listVersions({ agents }: Pick<AccountAgents, 'agents'>): readonly string[] {
  return [...new Set(agents.filter(({ connected }) => connected).map(({ version }) => version))].sort();
}
