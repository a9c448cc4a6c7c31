import { UsageError } from '../local/cli-options.ts';
import { makeBill } from './bill.ts';
import { formatBill, toBillJson } from './bill-text.ts';
import { readCapacity } from './capacity-page.ts';
import { type CostOptions, formatCostHelp, parseCostOptions } from './cost-options.ts';
import { writePages } from './pages.ts';
import { getOwnPrices, readPrices } from './prices.ts';

/** `npm run cost`. */
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    const options = parseCostOptions(args);
    console.log(options.help ? formatCostHelp() : await run(options));
    return 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    if (!(error instanceof UsageError)) return 1;
    console.error("Try 'npm run cost -- --help'.");
    return 2;
  }
}

async function run({ scenario, pricesFile, json, write }: CostOptions): Promise<string> {
  const prices = pricesFile === undefined ? getOwnPrices() : readPrices(pricesFile);
  // CDK takes seconds to load: not for a help, or for what is refused.
  const { countTemplates } = await import('./template-counts.ts');
  const basis = { prices, counts: countTemplates(), capacity: readCapacity() };
  if (write) {
    const changed = writePages(basis);
    return changed.length === 0 ? 'Nothing has changed.' : `Written: ${changed.join(', ')}`;
  }
  const bill = makeBill(scenario, basis);
  return json ? JSON.stringify(toBillJson(bill, basis), undefined, 2) : formatBill(bill, basis);
}
