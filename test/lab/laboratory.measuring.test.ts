import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeWithCluster } from '#test/support/cluster/cluster.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { runLaboratory } from './laboratory.ts';

/** Another seed makes other faults: to be tried by `LAB_SEED=… npx vitest run test/lab/laboratory.measuring.test.ts`. */
const seed = Number(process.env['LAB_SEED'] ?? 1);
const operations = chooseSize({ short: 16, long: 150 });
const kills = chooseSize({ short: 2, long: 10 });
const durationMs = chooseSize({ short: 10_000, long: 50_000 });
const scheduleSeconds = chooseSize({ short: 5, long: 15 });

describeWithCluster('Busdriver while everything around it fails', (cluster) => {
  it(`keeps every promise for ${operations} operations with ${kills} kills (seed ${seed})`, async () => {
    const report = await runLaboratory({
      ...{ cluster, seed, operations, kills, durationMs, scheduleSeconds, timeoutMs: 120_000 },
      evidenceDir: join(import.meta.dirname, '../../dist/laboratory', String(seed)),
      say: (line) => process.stdout.write(`laboratory: ${line}\n`),
    });
    process.stdout.write(`laboratory: ${JSON.stringify([...report.injected, ...report.answers])}\n`);

    const violations = report.findings.flatMap((finding) => finding.violations);
    expect(violations, violations.join('\n')).toEqual([]);
    expect(report.findings).toHaveLength(10);
  }, 400_000);
});
