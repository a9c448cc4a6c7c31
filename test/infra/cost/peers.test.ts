import { describe, expect, it } from 'vitest';
import { makeBill } from '../../../infra/cost/bill.ts';
import { countProcessors, peers, reckonPeer } from '../../../infra/cost/peers.ts';
import { sampleBasis, sampleScenario } from './sample-basis.ts';

const { values } = makeBill(sampleScenario, sampleBasis);

describe('other Clouddrivers', () => {
  it('grow in proportion to what was published, from what nobody goes below', () => {
    const { clouddriverLow, goClouddriver } = peers;
    expect([1, 500, 1_000].map((accounts) => countProcessors(clouddriverLow, accounts))).toEqual([
      2, 100, 200,
    ]);
    expect([1, 500, 1_000].map((accounts) => countProcessors(goClouddriver, accounts))).toEqual([1, 5, 10]);
  });

  it('take more processors where their memory asks for it', () => {
    const large = { ...peers.clouddriverLow, gb: 800 };
    expect(countProcessors(large, 500)).toBe(200);
  });

  it('cost processors and a database, all the time', () => {
    // 10 processors at 0.0408 US$ an hour, and a database at 0.13.
    expect(reckonPeer(peers.goClouddriver, 1_000, values)).toBeCloseTo(730 * (10 * 0.0408 + 0.13), 6);
  });
});
