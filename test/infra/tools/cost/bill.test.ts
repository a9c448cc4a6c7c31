import { describe, expect, it } from 'vitest';
import { modePrices } from '#caching/scheduling/mode-price.ts';
import { makeBill, sum, sumBy } from '#infra/tools/cost/bill.ts';
import { ownPrices } from '#infra/tools/cost/prices.ts';
import { parseCostOptions } from '#infra/tools/cost/scenario.ts';
import { findRows, readPage } from '#test/infra/aws/page-tables.ts';

const bill = (args: string, prices = ownPrices.dollars) =>
  makeBill(parseCostOptions(args.split(' ')).scenario, prices);
const reckon = (args: string) => {
  const lines = bill(args);
  return { dollars: sum(lines), parts: sumBy(lines, 'part'), services: sumBy(lines, 'service') };
};

/** With a line of every kind. */
const everything =
  '--accounts 60 --objects 3000 --changes-per-hour 20 --mode interval --stream-accounts 51 --secrets 12 ' +
  '--deploys-per-day 400 --polls 6 --pollers 1 --network endpoints --agents 120';

describe('the bill', () => {
  it('of a thousand accounts', () => {
    const caching = { 'accounts cached by turns': 264, 'all cached accounts': 907.75 };
    const deploys = { deploys: 2.3, 'questions about deploys': 2.66 };
    const always = { 'at rest': 33.32, 'way out of the VPC': 32.85, 'Gate and Fiat, all day': 19.22 };
    expect(reckon('--accounts 1000')).toEqual({
      dollars: 1262.1,
      parts: { ...always, ...caching, ...deploys },
      services: {
        ...{ 'API Gateway': 2.5, CloudWatch: 30.16, DynamoDB: 847.15, EventBridge: 30.43, KMS: 1.7 },
        ...{ Lambda: 118.6, SQS: 2.63, 'Secrets Manager': 2.28, VPC: 218.08, 'X-Ray': 8.57 },
      },
    });
  });

  it('of everything that costs', () => {
    const always = { 'at rest': 32.47, 'way out of the VPC': 73, 'Gate and Fiat, all day': 2.62 };
    const deploys = { deploys: 0.9, 'questions about deploys': 0.68, 'agents that are connected': 127.52 };
    expect(reckon(everything)).toEqual({
      dollars: 393.06,
      parts: {
        ...always,
        ...{ 'accounts cached by turns': 19.59, 'accounts that are watched': 125.97 },
        ...{ 'all cached accounts': 4.68, 'secrets with kubeconfigs': 5.63, ...deploys },
      },
      services: {
        ...{ 'API Gateway': 42.28, CloudWatch: 21.26, DynamoDB: 61.17, EventBridge: 0.24, KMS: 11.46 },
        ...{ Lambda: 155.43, SQS: 1.98, 'Secrets Manager': 7.71, VPC: 87.71, 'X-Ray': 3.82 },
      },
    });
  });

  it('of nothing but what is there all the time', () => {
    const quiet = reckon('--accounts 0 --pollers 0 --network existing');
    expect(quiet).toMatchObject({ dollars: 32.46, parts: { 'at rest': 32.46 } });
  });

  it('follows each price', () => {
    const lines = [...bill(everything), ...bill('--accounts 1')];
    for (const name of Object.keys(ownPrices.dollars)) {
      const dearer = { ...ownPrices.dollars, [name]: 100 };
      const other = [...bill(everything, dearer), ...bill('--accounts 1', dearer)];
      expect({ name, dollars: sum(other) }).not.toEqual({ name, dollars: sum(lines) });
    }
  });
});

describe('what the bill says', () => {
  it('is what GET /cache/introspection says of modes', () => {
    const find = (args: string, whats: RegExp) => sum(bill(args).filter(({ what }) => whats.test(what)));
    const turns = reckon('--accounts 1000 --mode interval').parts['accounts cached by turns'] ?? 0;
    const byChanges = find('--accounts 1000 --mode interval', /^the worker (for changes|compares)/);
    expect((turns - byChanges) / 1_000).toBeCloseTo(modePrices.turns, 2);
    const watched = '--accounts 1000 --mode stream';
    expect(find(watched, /^workers that never end/) / 20).toBeCloseTo(modePrices.worker, 2);
    expect(find(watched, /^progress/) / 1_000).toBeCloseTo(modePrices.progress, 2);
  });

  it.each(['adaptive', 'interval', 'stream'])('docs/scale.md says of mode %s', (mode) => {
    const rows = findRows(readPage('scale.md'));
    const sizes = rows.find(([what]) => what === 'Accounts')?.slice(1) ?? [];
    const said = rows.find(([what]) => what?.includes(`\`--mode ${mode}\``))?.slice(1) ?? [];
    const dollars = sizes.map((size) => sum(bill(`--accounts ${size.replace(',', '')} --mode ${mode}`)));
    expect(sizes).toHaveLength(5);
    expect(said).toEqual(dollars.map((amount) => Math.round(amount).toLocaleString('en-US')));
  });
});
