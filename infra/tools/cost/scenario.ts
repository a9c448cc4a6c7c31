import { Command, InvalidArgumentError, Option } from 'commander';
import { ownPrices, type Prices, readPrices } from './prices.ts';

const modes = ['interval', 'adaptive', 'stream'] as const;
const networks = ['nat', 'endpoints', 'existing'] as const;

/** What an installation has to do, as the options of the same names describe it. */
export interface Scenario {
  readonly accounts: number;
  readonly objects: number;
  readonly changesPerHour: number;
  /** How accounts are cached that are none of `streamAccounts`. */
  readonly mode: (typeof modes)[number];
  readonly streamAccounts: number;
  readonly secrets: number;
  readonly deploysPerDay: number;
  readonly polls: number;
  readonly pollers: number;
  readonly network: (typeof networks)[number];
  readonly agents: number;
}

/** What commander knows: without the defaults that depend on other options. */
type Given = Omit<Scenario, 'changesPerHour' | 'streamAccounts' | 'deploysPerDay'> &
  Partial<Scenario> & { readonly prices: Prices; readonly json: boolean };

/**
 * Reads the command line of `npm run cost`. Prints the help, but no error.
 *
 * @param args without the program's own name
 * @throws CommanderError naming the option and what it takes; with exit code 0 after the help.
 */
export function parseCostOptions(args: readonly string[]) {
  const command = buildCommand();
  const { prices, json, ...given } = command.parse(args, { from: 'user' }).opts<Given>();
  const { accounts, mode, secrets } = given;
  const scenario: Scenario = {
    changesPerHour: Math.round(given.objects / 20),
    streamAccounts: mode === 'stream' ? accounts : 0,
    deploysPerDay: accounts,
    ...given,
  };
  if (scenario.streamAccounts > accounts || secrets > accounts)
    command.error(`error: --stream-accounts and --secrets must be at most the ${accounts} of --accounts`);
  if (mode === 'stream' && scenario.streamAccounts < accounts)
    command.error('error: --stream-accounts goes with --mode interval or adaptive, for the other accounts');
  return { scenario, prices, json };
}

function buildCommand(): Command {
  const count = (name: string, help: string) => new Option(`--${name} <n>`, help).argParser(parseCount);
  const mode = new Option('--mode <mode>', 'each 30 s, each 5 min while nobody looks, or watched');
  const network = new Option('--network <way>', 'way out of the VPC; existing: a NAT gateway that is there');
  const prices = new Option('--prices <file>', 'such as {"region": "eu-west-1", "prices": {"natGb": 0.048}}');
  return new Command('npm run cost --')
    .description('Estimates what Busdriver costs a month in AWS, without free tiers, discounts and taxes.')
    .addOption(count('accounts', 'Kubernetes accounts that are cached').default(100))
    .addOption(count('objects', 'objects of each account').default(10_000))
    .addOption(count('changes-per-hour', 'objects of each account that change in an hour (default: 5 %)'))
    .addOption(mode.choices(modes).default('adaptive'))
    .addOption(
      count('stream-accounts', 'accounts that are watched, beside the others in --mode (default: 0)'),
    )
    .addOption(count('secrets', 'accounts with kubeconfigs in Secrets Manager, not EKS by IAM').default(0))
    .addOption(count('deploys-per-day', 'stages that deploy a manifest (default: one an account)'))
    .addOption(count('polls', 'questions of Orca about each, until it is stable').default(10))
    .addOption(count('pollers', 'replicas of Gate and Fiat, which poll all day').default(2))
    .addOption(network.choices(networks).default('nat'))
    .addOption(count('agents', 'agents that are connected, replicas included').default(0))
    .addOption(prices.argParser(readPrices).default(ownPrices, 'those of infra/tools/cost/prices.ts'))
    .option('--json', 'print JSON: the scenario, lines, sums by part and service, prices', false)
    .helpOption('--help', 'print this help')
    .addHelpText('after', '\nExit codes: 0 well, 1 something failed, 2 wrong command line.')
    .configureOutput({ writeErr: () => undefined })
    .exitOverride();
}

/** What may be counted at most: far beyond what anybody has, and within what numbers can do exactly. */
const countMax = 10_000_000;

function parseCount(text: string): number {
  if (/^\d+$/.test(text) && Number(text) <= countMax) return Number(text);
  throw new InvalidArgumentError(`Expected a whole number from 0 to ${countMax}.`);
}
