import { describe, expect, it } from 'vitest';
import { type BenchReport, formatReport, insertReport, runsMarker } from './bench-report.ts';
import type { RowResult } from './rows.ts';
import { summarize } from './statistics.ts';

const summary = summarize([10, 20, 30, 40]);
const timed: RowResult = {
  ...{ name: 'deploy, new', unit: 'ms', aim: 24, server: 'Busdriver, stream' },
  ...{ summary, floor: summarize([5]), processorMs: 14.25 },
};
const report: BenchReport = {
  ...{ commit: 'abc123', startedAtMs: Date.UTC(2026, 10, 22, 15, 4), node: 'v24.1.0' },
  ...{ processors: '2 × Some Processor', load: 0.25, samples: 60 },
  rows: [
    timed,
    {
      ...{ name: timed.name, unit: timed.unit, server: 'peer', processorMs: 14.25 },
      ...{ summary: summarize([30]), floor: summarize([4]) },
    },
    {
      name: 'memory when idle',
      unit: 'MiB',
      aim: 100,
      server: 'Busdriver, stream',
      summary: summarize([98]),
    },
    { name: 'memory when idle', unit: 'MiB', aim: 100, server: 'peer', problem: 'no --peer-pid' },
  ],
  calls: { 'a deploy, new': { PutItem: 3, 'Kubernetes GET': 1 } },
};

describe('a report', () => {
  it('is a table of the rows by server, with what it was made on', () => {
    expect(formatReport(report).split('\n')).toEqual([
      '## 2026-11-22 15:04 UTC, commit abc123',
      '',
      'Node v24.1.0 on 2 × Some Processor, load 0.3 before it began, 60 samples asked for.',
      '',
      '|  | aim | floor | Busdriver, stream | peer |',
      '| --- | --: | --: | --: | --: |',
      '| deploy, new, ms | ≤ 24 | 4.0 | **20.0** (10.0–30.0); 14.3 | 30.0; 14.3 |',
      '| memory when idle, MiB | ≤ 100 |  | **98.0** | not served: no --peer-pid |',
      '',
      '- Calls of a deploy, new: 1 Kubernetes GET, 3 PutItem',
      '',
    ]);
  });

  it('keeps what a server answered within its cell', () => {
    const { name, unit } = timed;
    const problem = `GET /x: 404 <b>|\n${'x'.repeat(500)}`;
    const line = formatReport({ ...report, rows: [{ name, unit, server: 'peer', problem }] }).split('\n')[6];
    expect(line?.split(/(?<!\\)\|/)).toHaveLength(6);
    expect(line).toContain('404 \\<b\\>\\|');
    expect(line?.length).toBeLessThan(200);
  });
});

describe('the page', () => {
  it('gets a report above those before it, and keeps them', () => {
    const page = `# Benchmarks\n\n${runsMarker}\n`;
    const once = insertReport(page, '## one\n\ntext\n');
    const twice = insertReport(once, '## two\n');
    expect(once).toBe(`# Benchmarks\n\n${runsMarker}\n\n## one\n\ntext\n`);
    expect(twice).toBe(`# Benchmarks\n\n${runsMarker}\n\n## two\n\n## one\n\ntext\n`);
  });
});
