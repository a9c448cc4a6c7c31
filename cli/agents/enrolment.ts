import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { stringify } from 'yaml';
import { asJsonObject, asString, getPath, type JsonObject } from '#core/json.ts';
import { readDefinitions } from '../accounts/definition-pages.ts';
import type { ApiClient } from '../api-client.ts';
import { ApiError, CliError } from '../cli-error.ts';
import { type CliContext, isJsonWanted, openClient } from '../context.ts';
import { readSmallFile } from '../small-file.ts';
import { type Cell, printTable } from '../table.ts';
import { AgentCluster, type ApplyOutcome } from './agent-cluster.ts';
import { type AgentSetup, createAgentObjects } from './agent-objects.ts';
import { type AccountAgents, changeAgents, readAgents } from './agents-api.ts';

/** Options of the command line about agents. */
export interface EnrolmentOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace: string;
  readonly name?: string;
  readonly image?: string;
  readonly replicas: number;
  readonly rights: 'read' | 'deploy';
  readonly agentUrl?: string;
  readonly ca?: string;
  readonly zone?: string;
  readonly audience: string;
  readonly accountNamespace?: readonly string[];
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  readonly wait: number;
  readonly replace?: boolean;
  readonly dryRun?: boolean;
  readonly print?: boolean;
}

/** Milliseconds between two looks whether an agent is connected. */
const lookMs = 500;

/** Steps that were done, for the table. */
interface Step {
  readonly what: string;
  readonly outcome: string;
}

/**
 * Enrols a cluster as an account: sets up its agents by the user's kubeconfig, stores the account by the keys of the cluster, and waits
 * until an agent is connected. Doing it again changes what is to change.
 *
 * @returns the exit code: 1 where no agent came in time
 */
export async function enrolAccount(
  context: CliContext,
  { name: account, options }: { readonly name: string; readonly options: EnrolmentOptions },
  command: Command,
): Promise<number> {
  const { terminal } = context;
  const client = openClient(context, command);
  const image = options.image ?? (await readReleasedImage(context));
  const setup = await createSetup(account, { ...options, image }, client.url);
  await using cluster = await AgentCluster.open(options, context);
  const definition = createDefinition(setup, options, await cluster.readIssuer());
  const objects = await createAgentObjects(setup);
  if (options.print) {
    if (isJsonWanted(command)) terminal.printJson({ account: definition, objects });
    else terminal.print(formatPlan(definition, objects));
    return 0;
  }
  const isDryRun = options.dryRun === true;
  const steps: Step[] = [];
  for (const object of objects) {
    const label = describeObject(object);
    const outcome = await terminal.wait(
      () => `applying ${label}`,
      () => cluster.apply(object, isDryRun),
    );
    steps.push({ what: label, outcome: isDryRun ? toPlan(outcome) : outcome });
  }
  steps.push({
    what: `account ${account}`,
    outcome: await storeAccount(client, definition, isDryRun),
  });
  if (isDryRun) return finish(context, command, { account, steps });
  const startedAt = Date.now();
  await changeAgents(client, account, { state: 'enrolled', replace: options.replace === true });
  const agents = await waitForAgents({ client, account, startedAt, waitSeconds: options.wait, context });
  const found = agents.connected;
  steps.push({ what: 'agents', outcome: `${found} of ${setup.replicas} connected` });
  const code = finish(context, command, { account, steps, agents });
  if (found > 0) {
    terminal.tell(`Next: busdriver agent check ${account}`);
    return code;
  }
  const pods = await cluster.describePods(setup.namespace, setup.name);
  terminal.tell(`No agent was connected within ${options.wait} s${pods && `; its pods: ${pods}`}.`);
  terminal.tell(`Next: kubectl --namespace ${setup.namespace} logs deployment/${setup.name}`);
  return 1;
}

/** The image that the release of this package made; a clone knows of none. @throws CliError that says what to do then */
async function readReleasedImage({ environment }: CliContext): Promise<string> {
  const launcher = environment['LAUNCHER'];
  const manifest = launcher && path.resolve(launcher, '../../package.json');
  const { agentImage } = manifest ? JSON.parse((await readSmallFile(manifest)).toString()) : {};
  if (typeof agentImage === 'string') return agentImage;
  throw new CliError('no release was made of this Busdriver, so there is no image of its agent', {
    next: 'make one with npm run images, push it to a registry of yours, and name it by --image',
  });
}

async function createSetup(
  account: string,
  options: EnrolmentOptions & { readonly image: string },
  url: string,
): Promise<AgentSetup> {
  const { namespace, image, replicas, rights, ca, zone, audience, accountNamespace = [] } = options;
  return {
    ...{ account, namespace, image, replicas, rights, zone, audience },
    name: options.name ?? toObjectName(account),
    url: options.agentUrl ?? url,
    ca: ca === undefined ? undefined : (await readSmallFile(ca)).toString('utf8'),
    boundTo: accountNamespace,
  };
}

/** Kubernetes takes lower-case letters, digits and dashes; 63 of them in labels. */
function toObjectName(account: string): string {
  const name = `agent-${account.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;
  return name.slice(0, 50).replace(/-+$/, '');
}

function createDefinition(
  { account, namespace, name, replicas, boundTo }: AgentSetup,
  { read, write }: EnrolmentOptions,
  { issuer, jwks }: { readonly issuer: string; readonly jwks: JsonObject },
): JsonObject {
  const permissions = { ...(read && { READ: [...read] }), ...(write && { WRITE: [...write] }) };
  const subject = `system:serviceaccount:${namespace}:${name}`;
  return {
    ...{ type: 'kubernetes', name: account },
    agent: { auth: { type: 'serviceAccount', issuer, subject, jwks }, minReplicas: replicas },
    ...(boundTo.length > 0 && { namespaces: [...boundTo] }),
    ...(Object.keys(permissions).length > 0 && { permissions }),
  };
}

/** The account as comments, then manifests for kubectl. */
function formatPlan(definition: JsonObject, objects: readonly JsonObject[]): string {
  const { type: _, ...account } = definition;
  const comment = stringify({ kubernetes: { accounts: [account] } })
    .trimEnd()
    .split('\n')
    .map((line) => `# ${line}`);
  const head = [
    "# For Busdriver's settings, or by POST /credentials with type: kubernetes beside the name:",
    ...comment,
  ];
  return [head.join('\n'), ...objects.map((object) => stringify(object).trimEnd())].join('\n---\n');
}

function describeObject(object: JsonObject): string {
  const { namespace, name } = asJsonObject(object['metadata']) ?? {};
  return `${String(object['kind'])} ${namespace === undefined ? '' : `${String(namespace)}/`}${String(name)}`;
}

function toPlan(outcome: ApplyOutcome): string {
  const plans = {
    created: 'would be created',
    changed: 'would be changed',
    unchanged: 'is as it should be',
    'left out': 'would be created, with its namespace',
  };
  return plans[outcome];
}

/** Stores the account. Its other options stay as they are; one of the settings is left alone. */
async function storeAccount(client: ApiClient, definition: JsonObject, isDryRun: boolean): Promise<string> {
  const name = String(definition['name']);
  const stored = (await readDefinitions(client, 'kubernetes')).find((each) => each['name'] === name);
  if (stored === undefined && (await isConfigured(client, name))) return 'is in the settings: left as it is';
  if (isDryRun) return stored === undefined ? 'would be stored' : 'would be changed';
  await client.send('/credentials', { method: 'PUT', body: { ...stored, ...definition } });
  return stored === undefined ? 'stored' : 'changed';
}

async function isConfigured(client: ApiClient, name: string): Promise<boolean> {
  try {
    const account = await client.get(`/credentials/${encodeURIComponent(name)}`);
    return asString(getPath(account, 'name')) === name;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}

interface AgentWait {
  readonly client: ApiClient;
  readonly account: string;
  readonly startedAt: number;
  readonly waitSeconds: number;
  readonly context: CliContext;
}

/** Waits until an agent is connected; for as long as was said. */
async function waitForAgents({
  client,
  account,
  startedAt,
  waitSeconds,
  context,
}: AgentWait): Promise<AccountAgents> {
  let agents = await readAgents(client, account);
  const endMs = startedAt + waitSeconds * 1_000;
  await context.terminal.wait(
    () =>
      `waiting for an agent of ${account}, for ${Math.max(0, Math.ceil((endMs - Date.now()) / 1_000))} s more`,
    async () => {
      while (agents.connected === 0 && Date.now() < endMs) {
        await sleep(lookMs);
        agents = await readAgents(client, account);
      }
    },
  );
  return agents;
}

function finish(
  { terminal }: CliContext,
  command: Command,
  result: { readonly account: string; readonly steps: readonly Step[]; readonly agents?: AccountAgents },
): number {
  if (isJsonWanted(command)) terminal.printJson(result);
  else {
    printTable(terminal, {
      headings: ['WHAT', 'OUTCOME'],
      rows: result.steps.map(({ what, outcome }): readonly Cell[] => [what, outcome]),
    });
  }
  return 0;
}
