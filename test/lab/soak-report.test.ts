import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { auditInjected } from './audit.ts';
import type { LaboratoryReport } from './laboratory.ts';
import { formatSoakReport, readCommit } from './soak-report.ts';

const report: LaboratoryReport = {
  ...{ seed: 7, operations: 502, ranMs: 3_720_000 },
  injected: new Map([
    ['functions: killed', 30],
    ['dynamodb: lost answer', 412],
  ]),
  answers: new Map([['POST 503', 12]]),
  findings: [
    { promise: 'Each ends', checked: '502 operations', violations: [] },
    { promise: 'Once', checked: '180 objects', violations: ['scaled-3 is `done` | *more* than once'] },
  ],
};

describe('the report of a soak', () => {
  const text = formatSoakReport(report, { commit: 'abc123', minutes: 60 });

  it('tells the result with the commit and the seed', () => {
    expect(text).toContain(
      '**1 of 2 promises were broken.** Commit abc123; seed 7; 62 minutes with the audit.',
    );
    const kept = { ...report, findings: report.findings.slice(0, 1) };
    const good = formatSoakReport(kept, { commit: 'abc123', minutes: 60 });
    expect(good).toContain('Every promise was kept. Commit abc123');
  });

  it('has a row for each promise, fault and answer', () => {
    for (const row of [
      'Each ends | 502 operations | 0',
      'Once | 180 objects | 1',
      'dynamodb: lost answer | 412',
      'POST 503 | 12',
    ]) {
      expect(text).toContain(`\n| ${row} |\n`);
    }
    expect(text).toContain('were killed 30 times');
  });

  it('shows what broke a promise as plain text', () => {
    expect(text).toContain('- scaled-3 is \\`done\\` \\| \\*more\\* than once');
  });

  it('is of no use where a sort of faults never happened', () => {
    const { violations } = auditInjected(new Map([['functions: clock set', 3]]));
    expect(violations).toEqual([
      "there was none of 'operations: waited for credentials'",
      "there was none of 'operations: waited for a deletion'",
      "there was none of 'dynamodb: write of a first fill refused'",
    ]);
  });

  it('names the commit that is checked out, where there is one', async () => {
    const root = path.join(import.meta.dirname, '../..');
    expect(await readCommit(root)).toMatch(
      /^([0-9a-f]{12}(, with changes that are not committed)?|unknown)$/,
    );
    expect(await readCommit(path.parse(root).root)).toBe('unknown');
  });
});
