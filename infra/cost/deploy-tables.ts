import { type Bill, makeBill, sumGroups } from './bill.ts';
import type { Group } from './bill-lines.ts';
import { evaluate } from './formula.ts';
import type { Basis, Scenario } from './scenario.ts';
import { formatCents, formatDollars, toMarkdown } from './table.ts';

/** An installation that nobody calls and that caches nothing, but for what is chosen. */
export const emptyScenario: Scenario = {
  accounts: 0,
  objects: 10_000,
  changesPerHour: 500,
  mode: 'adaptive',
  streamAccounts: 0,
  secrets: 0,
  deploysPerDay: 0,
  polls: 10,
  pollers: 2,
  network: 'nat',
  agents: 0,
};

/** The prices, with where each was looked up. */
export function toPriceTable({ prices }: Basis): string {
  const rows = [...prices].map(([name, { amount, unit, service, region, date, source }]) => [
    `\`${name}\``,
    amount < 0.1 ? String(amount) : formatAmount(amount),
    unit,
    `[${service}](${source})`,
    `${region}, ${date}`,
  ]);
  return toMarkdown(['Name', 'US$', 'For', "AWS' page", 'Region, looked up'], rows);
}

/** What an installation costs that caches nothing, line by line, before and after Spinnaker is connected to it. */
export function toRestTable(basis: Basis): string {
  const bill = makeBill(emptyScenario, basis);
  const endpoints = evaluate('endpointServices × zones × hours × endpointHour', bill.values);
  const fixed = sumGroups(bill, 'fixed');
  const rows = [
    ...toRows(bill, 'fixed'),
    toSumRow('nobody calls it', fixed),
    ...toRows(bill, 'connected'),
    toSumRow('Spinnaker is connected', sumGroups(bill, 'fixed', 'connected')),
    ...toRows(bill, 'wayOut'),
    toSumRow('… with a NAT gateway of its own', bill.dollars),
  ];
  return [
    toMarkdown(['What', 'Formula', 'US$'], rows),
    '',
    'Without a NAT gateway the functions need endpoints of five services instead: `endpointServices × zones × hours × endpointHour` =',
    `${formatCents(endpoints)}. Where a NAT gateway and an endpoint for \`execute-api\` are there already,`,
    `${formatCents(fixed + sumGroups(bill, 'connected') - getEndpointDollars(bill))} remain of it all.`,
  ].join('\n');
}

/** What a million deploys cost, and the questions that Orca asks meanwhile. */
export function toDeployTable(basis: Basis): string {
  const bill = makeBill({ ...emptyScenario, deploysPerDay: (1e6 * 24) / 730 }, basis);
  const deploys = sumGroups(bill, 'deploys');
  const polls = sumGroups(bill, 'polls');
  const { polls: each } = emptyScenario;
  const rows = [
    ...toRows(bill, 'deploys'),
    toSumRow('a million deploys', deploys),
    ...toRows(bill, 'polls'),
    toSumRow(`${each} million questions about them`, polls),
  ];
  return [
    toMarkdown(['What', 'Formula', 'US$'], rows),
    '',
    `So a deploy costs ${formatShare(deploys / 1e6)}, each question about it ${formatShare(polls / each / 1e6)}, and ten thousand`,
    `deploys a month with ${each} questions each about ${formatDollars((deploys + polls) / 100)} US$. Of requests that come one by one X-Ray records each,`,
    'for as much again as all else of a question costs; of these here a quarter.',
  ].join('\n');
}

/** What README.md says of the cost. */
export function toReadmeText(basis: Basis): string {
  const scenario = { ...emptyScenario, accounts: 100, deploysPerDay: 100 };
  const few = makeBill({ ...scenario, accounts: 10, deploysPerDay: 10, network: 'existing' }, basis);
  const adaptive = makeBill(scenario, basis);
  const interval = makeBill({ ...scenario, mode: 'interval' }, basis);
  const rest = sumGroups(adaptive, 'fixed');
  const share = Math.round((100 * getEndpointDollars(adaptive)) / rest);
  const [least, most] = [adaptive, interval].map((bill) => sumGroups(bill, 'turns', 'accounts') / 100);
  return [
    `By AWS' list prices it costs about ${formatDollars(rest)} US dollars a month while nobody calls it, ${share} % of it for the endpoint in your VPC,`,
    `${formatDollars(sumGroups(adaptive, 'wayOut'))} more where it needs a NAT gateway of its own, and ${formatCents(least ?? 0)} to ${formatCents(most ?? 0)} for each of a hundred accounts of 10,000 objects. Ten such`,
    `accounts come to about ${formatDollars(few.dollars)} in a VPC that has a NAT gateway, a hundred to ${formatDollars(adaptive.dollars)} with one. [What it costs](docs/scale.md)`,
    'has every line; `npm run cost` reckons yours.',
  ].join('\n');
}

/** Lines of a part as rows of a table. */
export function toRows(bill: Bill, ...groups: readonly Group[]): string[][] {
  return bill.lines
    .filter(({ group }) => groups.includes(group))
    .map(({ service, what, formula, dollars }) => [
      `${what} (${service})`,
      `\`${formula}\``,
      formatCents(dollars),
    ]);
}

/** A row with a sum. */
export function toSumRow(what: string, dollars: number): string[] {
  return [`**${what}**`, '', `**${formatCents(dollars)}**`];
}

function getEndpointDollars(bill: Bill): number {
  return bill.lines.find(({ what }) => what === 'endpoint of the API')?.dollars ?? 0;
}

/** A price as it is written: with two digits behind the point, or all that it has. */
function formatAmount(amount: number): string {
  const digits = Math.max(2, (String(amount).split('.')[1] ?? '').length);
  return amount.toFixed(digits);
}

/** A small sum in cents. */
function formatShare(dollars: number): string {
  return `${Number((dollars * 100).toPrecision(2))} cents`;
}
