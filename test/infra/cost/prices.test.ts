import { describe, expect, it } from 'vitest';
import { listLineRules } from '../../../infra/cost/bill-lines.ts';
import { listNames } from '../../../infra/cost/formula.ts';
import { peerFormula } from '../../../infra/cost/peers.ts';
import { getOwnPrices, parsePrices } from '../../../infra/cost/prices.ts';
import { networks } from '../../../infra/cost/scenario.ts';
import { sampleBasis, sampleScenario } from './sample-basis.ts';

const own = getOwnPrices();

describe('the price table', () => {
  it('says of each price what it is for, where and when it held, and which page says so', () => {
    expect(own.size).toBeGreaterThan(20);
    for (const [name, { amount, unit, service, region, date, source }] of own) {
      expect({ name, amount }).toEqual({ name, amount: expect.any(Number) });
      expect(amount).toBeGreaterThan(0);
      expect(`${unit} ${service}`).toMatch(/^\S.+ \S/);
      expect(region).toMatch(/^[a-z]+-[a-z]+-\d$/);
      expect(date).toMatch(/^20\d\d-(0[1-9]|1[0-2])$/);
      expect(source).toMatch(/^https:\/\/aws\.amazon\.com\/.+\/pricing\//);
    }
  });

  it('has no price that no bill asks for', () => {
    const scenario = { ...sampleScenario, streamAccounts: 1, secrets: 1, agents: 1 };
    const asked = networks
      .flatMap((network) => listLineRules({ ...scenario, network }, sampleBasis.counts))
      .flatMap(({ formula }) => listNames(formula))
      .concat(listNames(peerFormula));
    expect([...own.keys()].filter((name) => !asked.includes(name))).toEqual([]);
  });
});

describe('a file of prices', () => {
  it('replaces what it names, and says where that is from', () => {
    const text =
      '{"region": "eu-west-1", "date": "2026-12", "prices": {"natGb": 0.048, "alarm": {"amount": 0.2}}}';
    const prices = parsePrices(text, 'mine.json');
    expect(prices.get('natGb')).toMatchObject({ amount: 0.048, region: 'eu-west-1', source: 'mine.json' });
    expect(prices.get('alarm')).toMatchObject({ amount: 0.2, date: '2026-12', service: 'CloudWatch' });
    expect(prices.get('natHour')).toEqual(own.get('natHour'));
  });

  it.each([
    ['no JSON', '{', 'mine.json: expected JSON'],
    ['a list', '[]', 'mine.json: expected an object with prices'],
    ['no prices', '{}', 'mine.json: prices: expected an object'],
    ['a price that there is not', '{"prices": {"natGB": 1}}', 'prices.natGB: expected one of apiRequest'],
    ['a price below 0', '{"prices": {"natGb": -1}}', 'prices.natGb: expected US dollars'],
    ['a text', '{"prices": {"natGb": "1"}}', 'prices.natGb: expected US dollars'],
    ['an object without an amount', '{"prices": {"natGb": {}}}', 'prices.natGb: expected US dollars'],
  ])('is refused with %s', (_, text, message) => {
    expect(() => parsePrices(text, 'mine.json')).toThrow(message);
  });
});
