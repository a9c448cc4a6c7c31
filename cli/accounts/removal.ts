import type { Command } from 'commander';
import { type CliContext, isJsonWanted, openClient } from '../context.ts';

/** Removes an account from the store. */
export async function removeAccount(context: CliContext, name: string, command: Command): Promise<void> {
  const { terminal } = context;
  const client = openClient(context, command);
  await terminal.wait(
    () => `removing ${name}`,
    () => client.send(`/credentials/${encodeURIComponent(name)}`, { method: 'DELETE' }),
  );
  if (isJsonWanted(command)) return terminal.printJson({ name, removed: true });
  terminal.print(`account ${name} removed; its cluster is as it was`);
}
