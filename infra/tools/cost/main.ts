import { runProgram } from '#infra/options.ts';
import { makeBill, sum, sumBy } from './bill.ts';
import { costProgram, parseCostOptions } from './scenario.ts';

await runProgram(costProgram, parseCostOptions, (given) => console.log(formatBill(given)));

function formatBill({ scenario, prices, json }: ReturnType<typeof parseCostOptions>): string {
  const lines = makeBill(scenario, prices.dollars);
  const [dollars, parts, services] = [sum(lines), sumBy(lines, 'part'), sumBy(lines, 'service')];
  if (json) return JSON.stringify({ scenario, dollars, parts, services, lines, prices }, undefined, 2);
  return [
    `US dollars a month, prices of ${prices.from}`,
    ...Object.entries(parts).flatMap(([part, partDollars]) => [
      `\n${toRow(part, partDollars)}`,
      ...lines
        .filter((line) => line.part === part)
        .map((line) => toRow(`  ${line.service}: ${line.what}`, line.dollars)),
    ]),
    '\nBy service',
    ...Object.entries(services)
      .sort(([, one], [, other]) => other - one)
      .map(([service, serviceDollars]) => toRow(`  ${service}`, serviceDollars)),
    `\n${toRow('Sum', dollars)}`,
    ...(scenario.accounts > 0 ? [toRow('… for each account', dollars / scenario.accounts)] : []),
    '\nNobody has measured times or bills in AWS: infra/tools/cost/assumptions.ts says what is assumed.',
  ].join('\n');
}

function toRow(what: string, dollars: number): string {
  const cents = dollars.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return `${what.padEnd(88)} ${cents.padStart(10)}`;
}
