import { describe, expect, it } from 'vitest';
import { makeBill, sumServices } from '../../../infra/cost/bill.ts';
import { formatBill, toBillJson } from '../../../infra/cost/bill-text.ts';
import { sampleBasis, sampleScenario } from './sample-basis.ts';

const bill = makeBill({ ...sampleScenario, secrets: 1 }, sampleBasis);

describe('a bill as text', () => {
  const text = formatBill(bill, sampleBasis);

  it('has every line, each service and the sum', () => {
    expect(text).toMatch(new RegExp(`^Sum +${bill.dollars.toFixed(2)}$`, 'm'));
    expect(text).toMatch(new RegExp(`^… for each account +${(bill.dollars / 10).toFixed(2)}$`, 'm'));
    for (const [service, dollars] of sumServices(bill)) {
      expect(text).toMatch(new RegExp(`^ {2}${service} +${dollars.toFixed(2)}$`, 'm'));
    }
    const shown = text.split('\n').filter((line) => /^ {2}[A-Z][\w -]+: /.test(line));
    expect(shown).toHaveLength(bill.lines.length);
  });

  it('says of where and when its prices are', () => {
    expect(text.split('\n')[0]).toMatch(/prices of us-east-1, looked up from 20\d\d-\d\d to 20\d\d-\d\d$/);
  });
});

describe('a bill as JSON', () => {
  it('has the scenario, lines, sums, quantities and prices', () => {
    const json = JSON.parse(JSON.stringify(toBillJson(bill, sampleBasis)));
    expect(json).toMatchObject({
      scenario: { accounts: 10, secrets: 1 },
      dollars: bill.dollars,
      groups: { secrets: 0.47 },
      services: Object.fromEntries(sumServices(bill)),
      counts: { alarms: 30 },
      values: { kubeconfigs: 1, hours: 730 },
      prices: { natGb: { amount: 0.045, region: 'us-east-1' } },
    });
    expect(json.lines).toHaveLength(bill.lines.length);
    expect(json.lines[0]).toEqual({
      group: 'fixed',
      service: 'KMS',
      what: 'key of tables and secrets, before its first rotation',
      formula: 'keys × key',
      dollars: 1,
    });
  });
});
