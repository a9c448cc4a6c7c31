import type { Command } from 'commander';
import { type CliContext, isJsonWanted, openClient } from '../context.ts';
import { changeAgents } from './agents-api.ts';

/** Revokes the agents of an account: their sessions end, and no other is opened until they are enrolled again. */
export async function revokeAgents(context: CliContext, account: string, command: Command): Promise<void> {
  const { terminal } = context;
  const client = openClient(context, command);
  const agents = await terminal.wait(
    () => `revoking the agents of ${account}`,
    () => changeAgents(client, account, { state: 'revoked' }),
  );
  if (isJsonWanted(command)) return terminal.printJson(agents);
  terminal.print(`the agents of account ${account} are revoked; what runs in its cluster is as it was`);
  terminal.tell(`Next: busdriver agent enroll ${account} lets agents in again`);
}
