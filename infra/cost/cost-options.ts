import { parseArgs } from 'node:util';
import { UsageError } from '../local/cli-options.ts';
import { modes, networks, type Scenario } from './scenario.ts';

/** What the command line of `npm run cost` says. */
export interface CostOptions {
  readonly scenario: Scenario;
  /** A file with prices; undefined for AWS' list prices. */
  readonly pricesFile: string | undefined;
  readonly json: boolean;
  readonly write: boolean;
  readonly help: boolean;
}

interface Flag {
  readonly type: 'string' | 'boolean';
  /** What stands for the value in the help. */
  readonly value?: string;
  readonly help: string;
}

const flags = {
  accounts: { type: 'string', value: 'N', help: 'Kubernetes accounts that are cached (default 100)' },
  objects: { type: 'string', value: 'N', help: 'objects of each account (default 10000)' },
  'changes-per-hour': {
    type: 'string',
    value: 'N',
    help: 'objects of each account that change in an hour (default: 5 % of them)',
  },
  mode: {
    type: 'string',
    value: 'MODE',
    help: 'interval: each 30 s; adaptive: each 5 min while nobody looks; stream (default adaptive)',
  },
  'stream-accounts': {
    type: 'string',
    value: 'N',
    help: 'accounts in mode stream beside the others (default 0; all with --mode stream)',
  },
  secrets: {
    type: 'string',
    value: 'N',
    help: 'accounts whose kubeconfigs are secrets of Secrets Manager (default 0: EKS by IAM)',
  },
  'deploys-per-day': {
    type: 'string',
    value: 'N',
    help: 'stages that deploy a manifest (default: one an account)',
  },
  polls: {
    type: 'string',
    value: 'N',
    help: 'questions of Orca about each, until it is stable (default 10)',
  },
  pollers: { type: 'string', value: 'N', help: 'replicas of Gate and Fiat, which poll all day (default 2)' },
  network: {
    type: 'string',
    value: 'WAY',
    help: 'way out of the VPC: nat, endpoints, or existing: a NAT gateway that is there (default nat)',
  },
  agents: {
    type: 'string',
    value: 'N',
    help: 'agents that are connected, replicas included (default 0)',
  },
  prices: {
    type: 'string',
    value: 'FILE',
    help: "your prices, in JSON (default: AWS' list prices for us-east-1)",
  },
  json: { type: 'boolean', help: 'print JSON: the lines, sums by part and service, quantities, prices' },
  write: {
    type: 'boolean',
    help: 'write the tables of docs/scale.md, docs/deploy.md and README.md anew; no bill',
  },
  help: { type: 'boolean', help: 'print this help' },
} as const satisfies { readonly [name: string]: Flag };

/** The options with their meanings, as rows of a help. */
export function listOptions(): readonly (readonly [option: string, meaning: string])[] {
  return Object.entries<Flag>(flags).map(([name, { value, help }]) => [
    value === undefined ? `--${name}` : `--${name} ${value}`,
    help,
  ]);
}

/** The help of `npm run cost`, without a line end. */
export function formatCostHelp(): string {
  return [
    'Usage: npm run cost -- [options]',
    '',
    "Reckons what Busdriver costs a month in AWS, line by line: from AWS' list prices (infra/cost/prices.json), what was measured and",
    'what is assumed (infra/cost/assumption-data.ts), and what the templates have. Free tiers, discounts and taxes are not in it.',
    '',
    ...listOptions().map(([option, meaning]) => `  ${option.padEnd(22)} ${meaning}`),
    '',
    'A file of prices is JSON such as {"region": "eu-west-1", "date": "2026-11", "prices": {"natGb": 0.048}}: US dollars by the names',
    'in docs/deploy.md. What it leaves out stays as it is.',
    '',
    'Examples:',
    '  npm run cost -- --accounts 10 --network existing',
    '  npm run cost -- --accounts 300 --objects 2000 --secrets 40 --deploys-per-day 500',
    '  npm run cost -- --accounts 1 --mode stream --json',
    '',
    'Exit codes: 0 well, 1 something failed, 2 wrong command line.',
  ].join('\n');
}

/**
 * Reads the command line of `npm run cost`.
 *
 * @param args without the program's own name
 * @throws UsageError naming the option and what it takes
 */
export function parseCostOptions(args: readonly string[]): CostOptions {
  const values = parse(args);
  if (values.write && values.prices !== undefined) {
    throw new UsageError(
      '--write goes without --prices: the pages show the prices of infra/cost/prices.json',
    );
  }
  return {
    scenario: toScenario(values),
    pricesFile: values.prices,
    json: values.json ?? false,
    write: values.write ?? false,
    help: values.help ?? false,
  };
}

type Given = { readonly [name in keyof typeof flags]?: string | boolean | undefined };

function toScenario(values: Given): Scenario {
  const accounts = parseCount('accounts', values.accounts, 100);
  const objects = parseCount('objects', values.objects, 10_000);
  const mode = parseChoice('mode', values.mode ?? 'adaptive', modes);
  const isWatched = mode === 'stream';
  const streamAccounts = parseCount('stream-accounts', values['stream-accounts'], isWatched ? accounts : 0);
  if (streamAccounts > accounts) {
    throw new UsageError(`--stream-accounts must be at most the ${accounts} of --accounts`);
  }
  if (isWatched && streamAccounts < accounts) {
    throw new UsageError(
      '--stream-accounts goes with --mode interval or adaptive, which the other accounts have',
    );
  }
  const secrets = parseCount('secrets', values.secrets, 0);
  if (secrets > accounts) throw new UsageError(`--secrets must be at most the ${accounts} of --accounts`);
  return {
    accounts,
    objects,
    mode,
    streamAccounts,
    secrets,
    changesPerHour: parseCount('changes-per-hour', values['changes-per-hour'], Math.round(objects / 20)),
    deploysPerDay: parseCount('deploys-per-day', values['deploys-per-day'], accounts),
    polls: parseCount('polls', values.polls, 10),
    pollers: parseCount('pollers', values.pollers, 2),
    network: parseChoice('network', values.network ?? 'nat', networks),
    agents: parseCount('agents', values.agents, 0),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: flags }).values;
  } catch (error) {
    // Behind the first sentence stands advice about positional arguments, of which there are none.
    const message = error instanceof Error ? error.message : String(error);
    throw new UsageError(message.split('. ')[0] ?? message);
  }
}

/** What may be counted at most: far beyond what anybody has, and within what numbers can do exactly. */
const countMax = 10_000_000;

function parseCount(name: string, given: string | boolean | undefined, otherwise: number): number {
  if (given === undefined) return otherwise;
  const count = Number(given);
  if (typeof given === 'string' && /^\d+$/.test(given) && count <= countMax) return count;
  throw new UsageError(`--${name} must be a whole number from 0 to ${countMax}, not '${given}'`);
}

function parseChoice<Choice extends string>(
  name: string,
  given: string | boolean,
  choices: readonly Choice[],
): Choice {
  const choice = choices.find((each) => each === given);
  if (choice !== undefined) return choice;
  throw new UsageError(`--${name} must be one of ${choices.join(', ')}, not '${given}'`);
}
