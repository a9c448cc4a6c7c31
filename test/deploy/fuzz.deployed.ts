import { expect, it } from 'vitest';
import { runFuzz } from '../fuzz/run-fuzz.ts';
import { describeWithCluster } from '../support/cluster.ts';
import { configureDeployedSystem, getDeployment } from '../support/deployed-system.ts';
import { openPythonEnvironment } from './python-environment.ts';

/** Few: `npm run test:fuzz` makes thousands on one machine, where a call takes a tenth of the time. */
const calls = 300;

describeWithCluster('a fuzzer of the deployed API', (cluster) => {
  it(`finds no answer in ${calls} calls that the OpenAPI document does not have`, async () => {
    const { kubeconfig } = cluster;
    await using system = await configureDeployedSystem(getDeployment(), { kubeconfig });
    const python = await openPythonEnvironment({ report: console.log });

    const report = await runFuzz({
      url: system.url,
      schemathesis: python.bin('schemathesis'),
      calls,
      coverage: false,
      log: console.log,
    });

    expect(report.problems).toEqual([]);
  }, 400_000);
});
