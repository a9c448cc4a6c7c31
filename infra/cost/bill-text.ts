import { type Bill, sumGroups, sumServices } from './bill.ts';
import { type Group, groups } from './bill-lines.ts';
import type { Basis } from './scenario.ts';
import { formatCents } from './table.ts';

const width = 96;

/** A bill for people. */
export function formatBill(bill: Bill, { prices }: Basis): string {
  const { scenario, lines, dollars } = bill;
  const { accounts } = scenario;
  const regions = new Set([...prices.values()].map(({ region }) => region));
  const dates = [...prices.values()].map(({ date }) => date).sort();
  return [
    `US dollars a month, prices of ${[...regions].join(', ')}, looked up from ${dates.at(0)} to ${dates.at(-1)}`,
    ...listGroups().flatMap(([group, title]) => {
      const own = lines.filter((line) => line.group === group);
      if (own.length === 0) return [];
      return [
        '',
        toLine(title, sumGroups(bill, group)),
        ...own.map(({ service, what, dollars: each }) => toLine(`  ${service}: ${what}`, each)),
      ];
    }),
    '',
    'By service',
    ...sumServices(bill).map(([service, sum]) => toLine(`  ${service}`, sum)),
    '',
    toLine('Sum', dollars),
    ...(accounts > 0 ? [toLine('… for each account', dollars / accounts)] : []),
    '',
    'Nobody has measured times or bills in AWS: docs/scale.md tells what is assumed.',
  ].join('\n');
}

/** A bill for programs. */
export function toBillJson(bill: Bill, { prices, counts }: Basis): object {
  const { scenario, values, lines, dollars } = bill;
  const sums = listGroups().map(([group]) => [group, sumGroups(bill, group)]);
  return {
    scenario,
    dollars,
    lines,
    groups: Object.fromEntries(sums),
    services: Object.fromEntries(sumServices(bill)),
    counts,
    values: Object.fromEntries(values),
    prices: Object.fromEntries(prices),
  };
}

function listGroups(): readonly (readonly [Group, string])[] {
  return Object.entries(groups) as [Group, string][];
}

function toLine(what: string, dollars: number): string {
  return `${what.replaceAll('`', '').padEnd(width)} ${formatCents(dollars).padStart(10)}`;
}
