import type { Command } from 'commander';
import { asString, getPath } from '#core/json.ts';
import { type CliContext, isJsonWanted, openClient } from '../context.ts';

/** Has what is cached of an account compared with its cluster, and says how to see that it is over. */
export async function compareAccount(context: CliContext, name: string, command: Command): Promise<void> {
  const { terminal } = context;
  const client = openClient(context, command);
  const { body } = await terminal.wait(
    () => `asking for a comparison of ${name}`,
    () => client.send(`/credentials/${encodeURIComponent(name)}/compare`, { method: 'POST' }),
  );
  if (isJsonWanted(command)) return terminal.printJson(body);
  terminal.print(asString(getPath(body, 'message')) ?? `${name} is compared with its cluster`);
}
