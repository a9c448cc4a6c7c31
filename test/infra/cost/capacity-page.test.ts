import { describe, expect, it } from 'vitest';
import { parseCapacity, readCapacity } from '../../../infra/cost/capacity-page.ts';
import { formatCapacityReport } from '../../capacity/capacity-report.ts';

const size = {
  ...{ applications: 4, deployments: 1_000, largeDeployments: 10, replicaSetsEach: 2 },
  ...{ bareReplicaSets: 500, pods: 2_000 },
};
const made = '2026-11-22, commit 1234';
const units = { requests: 64_649, readUnits: 50_605.5, writeUnits: 35_981 };
const rows = [
  { what: 'the first fill', units, tookMs: 154_000 },
  { what: 'GET /applications', units: { requests: 1, readUnits: 69.5, writeUnits: 0 }, tookMs: 177 },
];

describe('the page of capacity', () => {
  it('is understood as its own program writes it', () => {
    const account = { size, accounts: 1, divisor: 1, made, rows };
    const other = { units: { requests: 9, readUnits: 9, writeUnits: 9 }, tookMs: 9 };
    const fleet = { ...account, accounts: 1_000, rows: rows.map((row) => ({ ...row, ...other })) };
    const page = formatCapacityReport({ account, fleet: { ...fleet, made: '2026-11-23, commit 5678' } });
    const measured = ['Measured on 2026-11-22, commit 1234.', 'Measured on 2026-11-23, commit 5678.'];
    expect(page.match(/^Measured on .*$/gm)).toEqual(measured);
    expect(parseCapacity(page)).toEqual({
      objects: 5_500,
      applications: 5,
      firstFill: { requests: 64_649, readUnits: 50_606, writeUnits: 35_981 },
      listApplications: { requests: 1, readUnits: 69.5, writeUnits: 0 },
    });
  });

  it('of this repository has what bills need', () => {
    const { objects, firstFill } = readCapacity();
    expect(objects).toBeGreaterThan(1_000);
    expect(firstFill.requests).toBeGreaterThan(objects);
  });

  it('is not taken for another part of it', () => {
    const account = { size, accounts: 1, divisor: 1, made, rows: rows.slice(0, 1) };
    const fleet = { ...account, accounts: 1_000, rows };
    expect(() => parseCapacity(formatCapacityReport({ account, fleet }))).toThrow(
      "no row 'GET /applications'",
    );
  });

  it('is refused without a row that bills need', () => {
    expect(() => parseCapacity('## One large account\n')).toThrow(
      "docs/capacity.md: there is no row '**objects of an account**'",
    );
  });
});
