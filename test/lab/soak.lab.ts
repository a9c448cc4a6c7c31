import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { describeWithCluster } from '#test/support/cluster/cluster.ts';
import { runLaboratory } from './laboratory.ts';
import type { SoakOptions } from './soak-options.ts';
import { formatSoakReport, readCommit } from './soak-report.ts';

const root = path.join(import.meta.dirname, '../..');
const options: SoakOptions = JSON.parse(process.env['SOAK_OPTIONS'] ?? '{}');
const { minutes, seed, operations, kills } = options;
const durationMs = minutes * 60_000;

/** As long as anything takes that nobody does anything about: an agent's lease, a sweep, a hidden message. */
const timeoutMs = 300_000;

/** For the start, the operations that are arranged, and the audit. */
const spareMs = 1_200_000;

describeWithCluster('the soak', (cluster) => {
  it(
    `keeps every promise for ${minutes} minutes`,
    async () => {
      const commit = await readCommit(root);
      const report = await runLaboratory({
        ...{ cluster, seed, operations, kills, durationMs, scheduleSeconds: 60, timeoutMs },
        evidenceDir: path.join(root, 'dist/laboratory', String(seed)),
        say: (line) => process.stdout.write(`soak: ${line}\n`),
      });
      const text = formatSoakReport(report, { commit, minutes });
      await writeFile(path.resolve(root, options.report), text);
      process.stdout.write(`\n${text}\nsoak: the report is in ${options.report}\n`);
      expect(report.findings.flatMap(({ violations }) => violations)).toEqual([]);
    },
    durationMs + timeoutMs + spareMs,
  );
});
