import { one, optional, parseOptions, read, toggle, UsageError } from '#infra/options.ts';
import { ownPrices, readPrices } from './prices.ts';

/** Far beyond what anybody has, and within what numbers can do exactly. */
const count = read.number(0, 10_000_000);

const options = {
  accounts: one('--accounts <N>=100', 'Kubernetes accounts that are cached', count),
  objects: one('--objects <N>=10000', 'objects of each account', count),
  changesPerHour: optional(
    '--changes-per-hour <N>',
    'objects of each account that change in an hour (default 5 %)',
    count,
  ),
  /** How accounts are cached that are none of `streamAccounts`. */
  mode: one(
    '--mode <MODE>=adaptive',
    'interval: each 30 s; adaptive: each 5 min while nobody looks; stream: watched',
    read.oneOf('interval', 'adaptive', 'stream'),
  ),
  streamAccounts: optional(
    '--stream-accounts <N>',
    'accounts that are watched, beside the others in --mode (default 0)',
    count,
  ),
  secrets: one('--secrets <N>=0', 'accounts with kubeconfigs in Secrets Manager, not EKS by IAM', count),
  deploysPerDay: optional(
    '--deploys-per-day <N>',
    'stages that deploy a manifest (default one an account)',
    count,
  ),
  polls: one('--polls <N>=10', 'questions of Orca about each, until it is stable', count),
  pollers: one('--pollers <N>=2', 'replicas of Gate and Fiat, which poll all day', count),
  network: one(
    '--network <WAY>=nat',
    'way out of the VPC: nat, endpoints, or existing: a NAT gateway that is there',
    read.oneOf('nat', 'endpoints', 'existing'),
  ),
  agents: one('--agents <N>=0', 'agents that are connected, replicas included', count),
  prices: optional(
    '--prices <FILE>',
    'such as {"region": "eu-west-1", "prices": {"natGb": 0.048}} (default those of infra/tools/cost/prices.ts)',
    readPrices,
  ),
  json: toggle('--json', 'print JSON: the scenario, lines, sums by part and service, prices'),
};

/** What an installation has to do, as the options of the same names describe it. */
export type Scenario = {
  readonly [Name in Exclude<keyof typeof options, 'prices' | 'json'>]: NonNullable<
    (typeof options)[Name]['usual']
  >;
};

/** `npm run cost`. */
export const costProgram = {
  name: 'npm run cost --',
  about: 'Estimates what Busdriver costs a month in AWS, without free tiers, discounts and taxes.',
  options,
  notes: ['', 'Exit codes: 0 well, 1 something failed, 2 wrong command line.'],
};

/** Reads the command line. @param args without the program's own name @throws UsageError naming the option and what it takes */
export function parseCostOptions(args: readonly string[]) {
  const { prices = ownPrices, json, help, ...given } = parseOptions(costProgram, args);
  const { accounts, mode, secrets } = given;
  const streamAccounts = given.streamAccounts ?? (mode === 'stream' ? accounts : 0);
  const changesPerHour = given.changesPerHour ?? Math.round(given.objects / 20);
  const deploysPerDay = given.deploysPerDay ?? accounts;
  const scenario: Scenario = { ...given, changesPerHour, streamAccounts, deploysPerDay };
  if (streamAccounts > accounts || secrets > accounts)
    throw new UsageError(`--stream-accounts and --secrets must be at most the ${accounts} of --accounts`);
  if (mode === 'stream' && streamAccounts < accounts)
    throw new UsageError('--stream-accounts goes with --mode interval or adaptive, for the other accounts');
  return { scenario, prices, json, help };
}
