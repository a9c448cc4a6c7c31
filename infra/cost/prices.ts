import { readFileSync } from 'node:fs';
import { UsageError } from '../local/cli-options.ts';
import ownPrices from './prices.json' with { type: 'json' };

/** What something costs. */
export interface Price {
  /** US dollars for one `unit`. */
  readonly amount: number;
  /** What is paid for: "a million requests to functions". */
  readonly unit: string;
  /** The service on whose bill it stands. */
  readonly service: string;
  /** AWS' region: `us-east-1`. */
  readonly region: string;
  /** When it was looked up: year and month. */
  readonly date: string;
  /** Address of the page that says so. */
  readonly source: string;
}

/** Prices by the names that formulas use. */
export type Prices = ReadonlyMap<string, Price>;

/** AWS' list prices in prices.json. */
export function getOwnPrices(): Prices {
  const { region, date, prices } = ownPrices;
  return new Map(Object.entries(prices).map(([name, price]) => [name, { region, date, ...price }]));
}

/**
 * The prices in the text of a file over our own: JSON with `region`, `date`, and `prices` of names and either an amount or an object with
 * `amount`, `unit` and `source`. What it leaves out stays as it is.
 *
 * @throws UsageError that names the price and what was expected.
 */
export function parsePrices(text: string, fileName: string): Prices {
  const file = toObject(parseJson(text, fileName), `${fileName}: expected an object with prices`);
  const given = toObject(file['prices'], `${fileName}: prices: expected an object of names and US dollars`);
  const merged = new Map(getOwnPrices());
  for (const [name, value] of Object.entries(given)) {
    const own = merged.get(name);
    const where = `${fileName}: prices.${name}`;
    if (own === undefined) throw new UsageError(`${where}: expected one of ${[...merged.keys()].join(', ')}`);
    const fields = typeof value === 'number' ? { amount: value } : toObject(value, toComplaint(where));
    const amount = fields['amount'];
    if (typeof amount !== 'number' || !(amount >= 0)) throw new UsageError(toComplaint(where));
    const texts = { ...pickTexts(file, ['region', 'date']), ...pickTexts(fields, ['unit', 'source']) };
    merged.set(name, { ...own, source: fileName, ...texts, amount });
  }
  return merged;
}

/** The prices of a file. @throws UsageError when it cannot be read, or says something else than prices. */
export function readPrices(file: string): Prices {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new UsageError(`--prices: the file '${file}' cannot be read`);
  }
  return parsePrices(text, file);
}

function parseJson(text: string, fileName: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`${fileName}: expected JSON`);
  }
}

function toObject(value: unknown, complaint: string): { readonly [name: string]: unknown } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new UsageError(complaint);
  return { ...value };
}

function toComplaint(where: string): string {
  return `${where}: expected US dollars, a number of 0 or more, or an object with such an amount`;
}

function pickTexts(
  from: { readonly [name: string]: unknown },
  names: readonly string[],
): { readonly [name: string]: string } {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = from[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}
