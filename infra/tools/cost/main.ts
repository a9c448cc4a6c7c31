import { CommanderError } from 'commander';
import { makeBill, sum, sumBy } from './bill.ts';
import { parseCostOptions } from './scenario.ts';

/** `npm run cost`. */
try {
  console.log(run(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  if (error.exitCode !== 0) {
    console.error(`${error.message}\nTry 'npm run cost -- --help'.`);
    process.exitCode = 2;
  }
}

function run(args: readonly string[]): string {
  const { scenario, prices, json } = parseCostOptions(args);
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
