import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runFuzz } from '#test/fuzz/run-fuzz.ts';
import { describeWithCluster } from '#test/support/cluster/cluster.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { configureDeployedSystem, getDeployment } from '#test/support/system/deployed-system.ts';
import { openPythonEnvironment } from './python-environment.ts';

/** A call takes ten times as long as on one machine: `npm run test:fuzz` makes many more there, and with the coverage phase. */
const calls = 250;
/** Other ones are `npm run test:fuzz`'s to try: here the same calls find the same each time. */
const seed = 1;

describeWithCluster('a fuzzer of the deployed API', (cluster) => {
  it(`finds no answer in ${calls} calls that the OpenAPI document does not have`, async () => {
    await using dir = await makeTempDir();
    const config = join(dir.path, 'clouddriver.yml');
    const settings = {
      account: { storage: { enabled: true } },
      busdriver: { accounts: { writableWithoutFiat: true, allowPlainSecrets: true } },
      kubernetes: { accounts: [{ name: 'fuzz', kubeconfigFile: cluster.kubeconfig }] },
    };
    await writeFile(config, JSON.stringify(settings));
    await using system = await configureDeployedSystem(getDeployment(), { config: [config] });
    const python = await openPythonEnvironment(console.log);

    const report = await runFuzz({
      url: system.url,
      schemathesis: python.bin('schemathesis'),
      ...{ calls, seed },
      coverage: false,
      lateShare: 0.01,
      settleTimeoutMs: 300_000,
      log: console.log,
    });

    // Told in the message: a comparison of lists shows their lengths alone in a summary.
    expect(report.problems, report.problems.join('\n')).toEqual([]);
  }, 900_000);
});
