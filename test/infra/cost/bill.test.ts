import { describe, expect, it } from 'vitest';
import { makeBill, sumGroups, sumServices } from '../../../infra/cost/bill.ts';
import { type Group, groups } from '../../../infra/cost/bill-lines.ts';
import type { Scenario } from '../../../infra/cost/scenario.ts';
import { modePrices } from '../../../shared/core/agents/mode-price.ts';
import { sampleBasis, sampleScenario } from './sample-basis.ts';

const reckon = (change: Partial<Scenario> = {}, basis = sampleBasis) =>
  makeBill({ ...sampleScenario, ...change }, basis);
const toCents = (dollars: number) => Math.round(dollars * 100);

describe('a bill', () => {
  it('adds up what its lines say, by part and by service', () => {
    const bill = reckon({ streamAccounts: 2, secrets: 3 });
    const cents = bill.lines.reduce((sum, { dollars }) => sum + toCents(dollars), 0);
    expect(toCents(bill.dollars)).toBe(cents);
    expect(toCents(sumGroups(bill, ...(Object.keys(groups) as Group[])))).toBe(cents);
    expect(sumServices(bill).reduce((sum, [, dollars]) => sum + toCents(dollars), 0)).toBe(cents);
  });

  it('has a line for every service that is paid for', () => {
    const services = new Set(reckon({ streamAccounts: 1, secrets: 1 }).lines.map(({ service }) => service));
    expect([...services].sort()).toEqual(
      [
        ['API Gateway', 'CloudWatch', 'DynamoDB', 'EventBridge', 'KMS', 'Lambda'],
        ['SQS', 'Secrets Manager', 'VPC', 'X-Ray'],
      ].flat(),
    );
  });

  it('follows the prices', () => {
    const alarm = sampleBasis.prices.get('alarm');
    if (alarm === undefined) throw new Error('no price of alarms');
    const prices = new Map([...sampleBasis.prices, ['alarm', { ...alarm, amount: 0.2 }]]);
    const dearer = reckon({}, { ...sampleBasis, prices });
    expect(toCents(dearer.dollars) - toCents(reckon().dollars)).toBe(300);
  });

  it('counts alarms and custom metrics as the templates have them', () => {
    const counts = { ...sampleBasis.counts, alarmMetrics: 40, customMetrics: 4 };
    const larger = reckon({}, { ...sampleBasis, counts });
    expect(toCents(larger.dollars) - toCents(reckon().dollars)).toBe(100 + 60);
  });
});

describe('what it costs', () => {
  it('to have a thousand kubeconfigs, and to read them every few minutes by one environment for all', () => {
    const bill = reckon({ accounts: 1_000, secrets: 1_000 });
    const own = bill.lines.filter(({ group }) => group === 'secrets').map(({ dollars }) => dollars);
    expect(own).toEqual([400, 52.5, 16.41]);
    // Each of five environments for itself would be 43.8 million reads: 219 US$.
    expect((own[1] ?? 0) + (own[2] ?? 0)).toBeLessThan(219 / 3);
  });

  it('to have a thousand agents connected: nothing without them', () => {
    expect(sumGroups(reckon(), 'agents')).toBe(0);
    const lines = reckon({ agents: 1_000 }).lines.filter(({ group }) => group === 'agents');
    const find = (name: string) => lines.find(({ formula }) => formula.includes(name))?.dollars;
    // 43.8 million minutes; a ping and its answer each 4 minutes; a question each 15 seconds; half of them renew a lease as often, the
    // others claim it twice a minute.
    expect([find('connectionMinute'), find('frame')]).toEqual([10.95, 21.9]);
    expect(find('httpRequest')).toBeCloseTo(175.2 + 87.6 + 43.8 + 4.87, 1);
    expect(find('signature')).toBeCloseTo(73, 0);
  });

  it('to watch one account: a worker that never ends, some 62 US$', () => {
    const dollars = sumGroups(reckon({ accounts: 1, mode: 'stream', streamAccounts: 1 }), 'streams');
    expect(dollars).toBeGreaterThan(60);
    expect(dollars).toBeLessThan(63);
  });

  it('to find out what changes: what introspection tells', () => {
    const lines = reckon({ accounts: 1_000, mode: 'interval' }).lines.filter(
      ({ group }) => group === 'turns',
    );
    const ofTurns = lines.filter(({ formula }) => !/changesByTurns|comparedByTurns/.test(formula));
    expect(ofTurns.reduce((sum, { dollars }) => sum + dollars, 0) / 1_000).toBeCloseTo(modePrices.turns, 2);
    const watched = reckon({ accounts: 1_000, mode: 'stream', streamAccounts: 1_000 });
    const find = (name: string) => watched.lines.find(({ formula }) => formula.includes(name))?.dollars ?? 0;
    const workers = watched.values.get('streamWorkers') ?? 0;
    expect(find('streamWorkers') / workers).toBeCloseTo(modePrices.worker, 2);
    expect(find('flushes') / 1_000).toBeCloseTo(modePrices.progress, 2);
  });

  it('to watch fifty and fifty-one accounts: another worker', () => {
    const getWorkers = (streamAccounts: number) =>
      reckon({ accounts: 60, streamAccounts }).values.get('streamWorkers');
    expect([0, 1, 50, 51].map(getWorkers)).toEqual([0, 1, 1, 2]);
  });

  it('to leave a VPC: a NAT gateway, five endpoints, or only what goes through a gateway that is there', () => {
    const ofNetwork = (network: Scenario['network']) => sumGroups(reckon({ network }), 'wayOut');
    expect([ofNetwork('nat'), ofNetwork('endpoints'), ofNetwork('existing')]).toEqual([32.85, 73, 0]);
    const natLines = (network: Scenario['network']) =>
      reckon({ network }).lines.filter(({ formula }) => formula.includes('natGb')).length;
    expect([natLines('existing') > 0, natLines('endpoints')]).toEqual([true, 0]);
  });

  it('to look at idle accounts less often: less', () => {
    const ofMode = (mode: Scenario['mode']) => sumGroups(reckon({ mode }), 'turns');
    expect(ofMode('adaptive')).toBeLessThan(ofMode('interval'));
  });

  it('to run few accounts: a message each, where many share one', () => {
    const getMessagesEach = (accounts: number) => {
      const { values } = reckon({ accounts, mode: 'interval' });
      return (values.get('messages') ?? 0) / (values.get('runs') ?? 0);
    };
    expect(getMessagesEach(1)).toBeCloseTo(1);
    expect(getMessagesEach(1_000)).toBeCloseTo(1 / 25);
    expect(getMessagesEach(10)).toBeLessThan(0.7);
  });

  it('nothing for what is not there', () => {
    const quiet = { accounts: 0, deploysPerDay: 0, pollers: 0, network: 'existing' } as const;
    const bill = reckon(quiet);
    expect(new Set(bill.lines.map(({ group }) => group))).toEqual(new Set(['fixed']));
  });
});

describe('traces', () => {
  it('are of each request where few come, and of a twentieth beyond the first of each second', () => {
    const traced = (deploysPerDay: number) => {
      const { values } = reckon({ deploysPerDay });
      return (values.get('operationTraces') ?? 0) / (2 * (values.get('deploys') ?? 0));
    };
    expect(traced(1)).toBeCloseTo(1, 3);
    expect(traced(10_000_000)).toBeLessThan(0.06);
  });
});

describe('a first fill', () => {
  it('takes the units and requests of an object as they were measured', () => {
    const { values } = reckon({ objects: 5_000 });
    const amounts = ['fillRequests', 'fillReads', 'fillWrites', 'fillSeconds'].map(
      (name) => 1e6 * (values.get(name) ?? 0),
    );
    // 15,000 requests of 5 ms, 16 at once.
    expect(amounts.map((amount) => Number(amount.toFixed(4)))).toEqual([15_000, 10_000, 8_000, 4.6875]);
  });
});
