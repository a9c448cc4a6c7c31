import type { Command } from 'commander';
import type { Environment } from '#platform/config.ts';
import { ApiClient } from './api-client.ts';
import type { Terminal } from './terminal.ts';

/** Dependencies of every command. */
export interface CliContext {
  readonly terminal: Terminal;
  readonly environment: Environment;
}

/** Options that every command takes. */
export interface GlobalOptions {
  readonly url: string;
  readonly user?: string;
  readonly output: 'table' | 'json';
}

/** A client of the Busdriver that the command line names. @param headers sent with each request. Default: none */
export function openClient(
  { environment }: CliContext,
  command: Command,
  headers: { readonly [name: string]: string } = {},
): ApiClient {
  const { url, user } = command.optsWithGlobals<GlobalOptions>();
  return new ApiClient({
    ...{ url, user, headers },
    token: environment['BUSDRIVER_TOKEN'] || undefined,
    nextIfSilent: 'start Busdriver with busdriver start, or name where it answers by --url',
  });
}

/** Whether the command line asks for JSON. */
export function isJsonWanted(command: Command): boolean {
  return command.optsWithGlobals<GlobalOptions>().output === 'json';
}
