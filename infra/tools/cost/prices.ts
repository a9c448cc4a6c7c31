import { readFileSync } from 'node:fs';
import { getErrorMessage } from '#core/errors.ts';
import { UsageError } from '#infra/options.ts';

/** AWS' list prices in US dollars for us-east-1. Each is on https://aws.amazon.com/<service>/pricing/. */
const listPrices = {
  apiRequest: 3.5, // a million requests to a REST API
  httpRequest: 1, // a million requests to an HTTP API, of the first 300 million a month, 512 KB each
  connectionMinute: 0.25, // a million minutes of connections to a WebSocket API
  frame: 1, // a million frames of it either way, of the first 1,000 million a month, 32 KB each
  invocation: 0.2, // a million requests to functions
  gbSecond: 13.3334, // a million GB-seconds of functions on Arm
  writeUnit: 0.625, // a million write request units of DynamoDB, 1 KB each
  readUnit: 0.125, // a million read request units, 4 KB each
  storedGb: 0.25, // a GB in a table, a month
  restorableGb: 0.2, // a GB with point-in-time recovery, a month
  queueRequest: 0.4, // a million requests to a standard queue of SQS
  fairRequest: 0.1, // a million of them with a message group, on top
  event: 1, // a million custom events of EventBridge
  archivedGb: 0.1, // a GB put into an archive of events
  logGb: 0.5, // a GB of logs taken in
  metric: 0.3, // a custom metric, a month; looked up in 2026-02
  alarm: 0.1, // a metric of an alarm, a month
  dashboard: 3, // a dashboard, a month; the first three of an AWS account are free
  trace: 5, // a million traces that X-Ray records
  key: 1, // a key of KMS, a month; as much again for each of its first two rotations
  keyRequest: 3, // a million requests for keys
  signature: 15, // a million signatures by a key other than RSA_2048
  secret: 0.4, // a secret of Secrets Manager, a month
  secretRequest: 5, // a million requests for secrets
  endpointHour: 0.01, // an hour of an interface endpoint in one zone
  endpointGb: 0.01, // a GB through an interface endpoint
  natHour: 0.045, // an hour of a NAT gateway
  natGb: 0.045, // a GB through a NAT gateway
};

/** US dollars by the names of prices. */
export type Dollars = { readonly [name in keyof typeof listPrices]: number };

/** Prices, and where they are from: "us-east-1, 2026-11". */
export interface Prices {
  readonly from: string;
  readonly dollars: Dollars;
}

/** The prices of a bill that brings none of its own. */
export const ownPrices: Prices = { from: 'us-east-1, 2026-11', dollars: listPrices };

/**
 * The prices of a file over our own: JSON with `prices`, US dollars by name, and, to be printed, `region` and `date`.
 *
 * @throws UsageError that names the price and what was expected
 */
export function readPrices(file: string, flag: string): Prices {
  const { prices, region = 'of no region', date = 'of no date' } = parseFile(file, flag);
  if (typeof prices !== 'object' || prices === null)
    throw new UsageError(`${flag}: expected {"prices": {"natGb": 0.048}}: US dollars by name`);
  for (const [name, amount] of Object.entries(prices)) {
    if (!Object.hasOwn(listPrices, name)) {
      const known = Object.keys(listPrices).join(', ');
      throw new UsageError(`${flag}: prices.${name}: expected one of ${known}`);
    }
    if (typeof amount !== 'number' || amount < 0)
      throw new UsageError(`${flag}: prices.${name}: expected US dollars, a number of 0 or more`);
  }
  const from = `${file} (${region}, ${date}), else ${ownPrices.from}`;
  return { from, dollars: { ...listPrices, ...prices } };
}

function parseFile(file: string, flag: string): { readonly [name: string]: unknown } {
  try {
    return { ...JSON.parse(readFileSync(file, 'utf8')) };
  } catch (error) {
    throw new UsageError(`${flag}: expected a file of JSON: ${getErrorMessage(error)}`);
  }
}
