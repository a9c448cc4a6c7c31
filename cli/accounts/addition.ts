import type { Command } from 'commander';
import { asJsonArray, getPath, type JsonObject } from '#core/json.ts';
import { CliError } from '../cli-error.ts';
import { type CliContext, isJsonWanted, openClient } from '../context.ts';
import { readSmallFile } from '../small-file.ts';
import { toLine } from '../terminal.ts';
import { readKubeconfig } from './kubeconfig.ts';

/** Options of an account. */
export interface AdditionOptions {
  readonly kubeconfig?: string;
  readonly kubeconfigSecret?: string;
  readonly context?: string;
  readonly eks?: string;
  readonly region?: string;
  readonly roleArn?: string;
  readonly host?: string;
  readonly ca?: string;
  readonly tokenProvider?: string;
  readonly namespace?: readonly string[];
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  readonly environment?: string;
}

/** Ways to a cluster, of which an account has one, and the options that belong to each. */
const ways: { readonly [way: string]: readonly (keyof AdditionOptions)[] } = {
  kubeconfig: ['context'],
  kubeconfigSecret: ['context'],
  eks: ['region', 'roleArn'],
  host: ['ca', 'tokenProvider'],
};

/** Adds an account to the store. */
export async function addAccount(
  context: CliContext,
  { name, options }: { readonly name: string; readonly options: AdditionOptions },
  command: Command,
): Promise<void> {
  checkOptions(options, command);
  const { terminal } = context;
  const definition: JsonObject = { type: 'kubernetes', name, ...(await toDefinition(options)) };
  const client = openClient(context, command);
  const { body } = await terminal.wait(
    () => `adding ${name}`,
    () => client.send('/credentials', { method: 'POST', body: definition }),
  );
  if (isJsonWanted(command)) return terminal.printJson(body);
  terminal.print(`account ${name} added`);
  for (const warning of asJsonArray(getPath(body, 'warnings'))) terminal.tell(toLine(String(warning)));
  terminal.tell(`Next: busdriver accounts check ${name}`);
}

/** Ends the command where the options do not say one cluster. */
function checkOptions(options: AdditionOptions, command: Command): void {
  const chosen = Object.keys(ways).filter((way) => Object.hasOwn(options, way));
  const [way = ''] = chosen;
  if (chosen.length !== 1) {
    command.error(
      `error: expected one of ${Object.keys(ways).map(toFlag).join(', ')}, got ${chosen.map(toFlag).join(' and ') || 'none'}`,
    );
  }
  const misplaced = Object.values(ways)
    .flat()
    .find((option) => Object.hasOwn(options, option) && !ways[way]?.includes(option));
  if (misplaced !== undefined) command.error(`error: ${toFlag(misplaced)} does not go with ${toFlag(way)}`);
}

function toFlag(option: string): string {
  return `--${option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

async function toDefinition(options: AdditionOptions): Promise<JsonObject> {
  const { namespace = [], read, write, environment } = options;
  const permissions = { ...(read && { READ: [...read] }), ...(write && { WRITE: [...write] }) };
  return {
    ...(await toConnection(options)),
    ...(namespace.length > 0 && { namespaces: [...namespace] }),
    ...((read || write) && { permissions }),
    ...(environment !== undefined && { environment }),
  };
}

async function toConnection(options: AdditionOptions): Promise<JsonObject> {
  const { kubeconfig, kubeconfigSecret, context, eks, region, roleArn, host, ca, tokenProvider } = options;
  if (kubeconfig !== undefined) return { kubeconfigContents: await readKubeconfig(kubeconfig, { context }) };
  if (eks !== undefined)
    return { eks: { cluster: eks, ...(region && { region }), ...(roleArn && { roleArn }) } };
  if (host !== undefined) {
    const caData = ca === undefined ? undefined : await readAuthority(ca);
    return { server: { host, ...(caData && { caData }), ...(tokenProvider && { tokenProvider }) } };
  }
  return { kubeconfigSecret: kubeconfigSecret ?? '', ...(context && { context }) };
}

/** Certificates in base64, as accounts have them. */
async function readAuthority(file: string): Promise<string> {
  const bytes = await readSmallFile(file);
  if (bytes.includes('-----BEGIN CERTIFICATE-----')) return bytes.toString('base64');
  throw new CliError(`${file} holds no certificate`, { next: 'give certificates in PEM' });
}
