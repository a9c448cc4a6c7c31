import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeWithCluster } from '../support/cluster.ts';
import { runLaboratory } from './laboratory.ts';

/** Another seed makes other faults: to be tried by `LAB_SEED=… npx vitest run test/lab/laboratory.test.ts`. */
const seed = Number(process.env['LAB_SEED'] ?? 1);
const operations = 150;
const kills = 10;

describeWithCluster('Busdriver while everything around it fails', (cluster) => {
  it(`keeps every promise for ${operations} operations with ${kills} kills (seed ${seed})`, async () => {
    const report = await runLaboratory({
      ...{ cluster, seed, operations, kills, durationMs: 50_000, scheduleSeconds: 15, patienceMs: 120_000 },
      evidenceDir: join(import.meta.dirname, '../../dist/laboratory', String(seed)),
      say: (line) => process.stdout.write(`laboratory: ${line}\n`),
    });
    process.stdout.write(`laboratory: ${JSON.stringify([...report.injected, ...report.answers])}\n`);

    expect(report.findings.flatMap(({ violations }) => violations)).toEqual([]);
    expect(report.findings).toHaveLength(9);
  }, 400_000);
});
