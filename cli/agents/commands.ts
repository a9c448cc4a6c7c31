import { type Command, InvalidArgumentError, Option } from 'commander';
import { accountArgument } from '../completion.ts';
import type { CliContext } from '../context.ts';
import { formatExamples } from '../help.ts';
import { addValue, parseNewName, parseText, parseUrl } from '../option-values.ts';
import { checkAgents } from './check.ts';
import type { EnrolmentOptions } from './enrolment.ts';
import { listAgents } from './listing.ts';
import { revokeAgents } from './revocation.ts';

/** Adds `agent` and its subcommands. */
export function addAgentCommands(program: Command, context: CliContext): void {
  const agent = program
    .command('agent')
    .description('enrols clusters that only agents in them reach; lists, checks and revokes their agents')
    .helpCommand(false)
    .addHelpText(
      'after',
      formatExamples('busdriver agent enroll --help', 'busdriver agent list', 'busdriver agent check edge-7'),
    );
  addEnrollCommand(agent, context);
  agent
    .command('list')
    .description('lists the accounts that have agents: how many are connected, and what waits for them')
    .addHelpText('after', formatExamples('busdriver agent list', 'busdriver agent list --output json'))
    .action((_options: unknown, command: Command) => listAgents(context, command));
  agent
    .command('check')
    .description(
      'looks at the agents of an account: replicas, versions, cluster, what waits, what they warn of',
    )
    .argument(`<${accountArgument}>`, 'the name of an account', parseText)
    .addHelpText('after', formatExamples('busdriver agent check edge-7'))
    .action(async (name: string, _options: unknown, command: Command) => {
      process.exitCode = await checkAgents(context, name, command);
    });
  agent
    .command('revoke')
    .description('ends the sessions of an account, and lets no agent in until it is enrolled again')
    .argument(`<${accountArgument}>`, 'the name of an account', parseText)
    .addHelpText('after', formatExamples('busdriver agent revoke edge-7'))
    .action((name: string, _options: unknown, command: Command) => revokeAgents(context, name, command));
}

function addEnrollCommand(agent: Command, context: CliContext): void {
  agent
    .command('enroll')
    .description(
      'sets up agents in a cluster by your kubeconfig, stores its account, and waits until they are connected',
    )
    .argument('<name>', 'the name of the account', parseNewName)
    .option('--kubeconfig <file>', 'a kubeconfig (default: that of KUBECONFIG, then ~/.kube/config)')
    .option('--context <context>', 'a context of it (default: the current one)', parseText)
    .option('--namespace <namespace>', 'where the agents run', parseObjectName, 'busdriver')
    .option(
      '--name <name>',
      'name of their service account and Deployment (default: agent- and the account)',
      parseObjectName,
    )
    .option('--image <image>', 'their image (default: that of this release, where one was made)', parseText)
    .option('--replicas <count>', 'how many there are', parseCount(1, 100), 2)
    .addOption(
      new Option('--rights <rights>', 'what they may do in the cluster')
        .choices(['read', 'deploy'])
        .default('deploy'),
    )
    .option('--agent-url <url>', 'where they reach Busdriver (default: what --url says)', parseUrl)
    .option('--ca <file>', "certificates of the authorities that Busdriver's is signed by, PEM")
    .option('--zone <zone>', 'where they run, as free text', parseText)
    .option(
      '--audience <audience>',
      'what their tokens are for: busdriver: and the stage',
      parseText,
      'busdriver:local',
    )
    .option(
      '--account-namespace <namespace>',
      'a namespace that the account is bounded to (repeatable)',
      addValue,
    )
    .option('--read <group>', 'a group that may see the account (repeatable; default: everybody)', addValue)
    .option('--write <group>', 'a group that may change what is in it (repeatable)', addValue)
    .option('--wait <seconds>', 'how long an agent is waited for', parseCount(0, 3_600), 120)
    .option('--replace', 'move the account to this cluster, though it was enrolled for another one')
    .addOption(new Option('--dry-run', 'change nothing, and print what would be done').conflicts('print'))
    .option('--print', 'print what would be applied, and the account, and call only the cluster')
    .addHelpText(
      'after',
      formatExamples(
        'busdriver agent enroll edge-7 --context edge-7 --agent-url https://busdriver.example.com',
        'busdriver agent enroll edge-7 --rights read --account-namespace shop',
        'busdriver agent enroll edge-7 --print > edge-7.yaml',
        'busdriver agent enroll edge-7 --context new-edge --replace',
      ),
    )
    .action(async (name: string, options: EnrolmentOptions, command: Command) => {
      // It alone calls clusters: the other commands start without what that takes.
      const { enrolAccount } = await import('./enrolment.ts');
      process.exitCode = await enrolAccount(context, { name, options }, command);
    });
}

/** A name of Kubernetes. @throws InvalidArgumentError */
function parseObjectName(text: string): string {
  if (text.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text)) return text;
  throw new InvalidArgumentError('Expected 1 to 63 lower-case letters, digits and dashes.');
}

/** Reads a whole number within bounds. */
function parseCount(least: number, most: number): (text: string) => number {
  return (text) => {
    const count = /^\d{1,6}$/.test(text) ? Number(text) : -1;
    if (count >= least && count <= most) return count;
    throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
  };
}
