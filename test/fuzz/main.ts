import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { formatHelp, one, optional, parseOptions, read, toggle } from '#infra/options.ts';
import { startCluster } from '#infra/tools/test-cluster/cluster.ts';
import { openPythonEnvironment } from '#test/deploy/python-environment.ts';
import { listOpenRows } from '#test/support/engines/open-rows.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { startSystem } from '#test/support/system/system.ts';
import { plantedSecret } from './playground.ts';
import { type FuzzReport, type RunFuzzOptions, runFuzz } from './run-fuzz.ts';

const program = {
  name: 'npm run test:fuzz --',
  about: `Lets schemathesis call the API as docs/openapi.json tells, and reports every answer that the document does not have.
Without --url it starts a Kubernetes test cluster and Busdriver on this machine, and looks into their logs and tables, too.`,
  options: {
    calls: one('--calls <N>=2000', 'least number of calls', read.number(0, Number.MAX_SAFE_INTEGER)),
    seed: optional(
      '--seed <N>',
      'repeats a run (default: a random seed, which is printed)',
      read.number(0, Number.MAX_SAFE_INTEGER),
    ),
    coverage: toggle(
      '--no-coverage',
      'leave out the phase that enumerates edges of the schemas (about 3500 calls more)',
    ),
    schemathesis: optional(
      '--schemathesis <FILE>',
      'the program, version 4 (default: that of test/deploy/requirements.txt, installed on first use)',
      read.text,
    ),
    url: optional('--url <URL>', 'an API that runs; anything in its cluster may be deleted', read.text),
  },
};

const values = parseOptions(program, process.argv.slice(2));

if (values.help) {
  console.log(formatHelp(program));
} else {
  const { url, seed, coverage, calls } = values;
  const schemathesis = values.schemathesis ?? (await openPythonEnvironment(tell)).bin('schemathesis');
  const options = { schemathesis, coverage, calls, ...(seed !== undefined && { seed }), log: tell };
  const report = url === undefined ? await runFuzzHere(options) : await runFuzz({ ...options, url });
  print(report);
  process.exitCode = report.problems.length === 0 ? 0 : 1;
}

/** Runs it against a system of its own, of which more can be seen than its answers. */
async function runFuzzHere(options: Omit<RunFuzzOptions, 'url'>): Promise<FuzzReport> {
  await using cluster = await startCluster({ report: tell });
  await using dir = await makeTempDir();
  const config = path.join(dir.path, 'clouddriver.yml');
  const kubeconfigFile = cluster.kubeconfig;
  const accounts = [
    { name: 'fuzz', kubeconfigFile },
    { name: 'fuzz-limited', kubeconfigFile, namespaces: ['default'], kinds: ['configMap', 'deployment'] },
    { name: 'fuzz-restricted', kubeconfigFile, permissions: { READ: ['team'], WRITE: ['team'] } },
  ];
  await writeFile(
    config,
    JSON.stringify({
      account: { storage: { enabled: true } },
      busdriver: { accounts: { writableWithoutFiat: true, allowPlainSecrets: true } },
      kubernetes: { enabled: true, accounts },
    }),
  );
  await using system = await startSystem({ config: [config], args: ['--log-level', 'debug'] });
  const report = await runFuzz({ ...options, url: system.url, freezeSeconds: 2 });
  await system.idle();
  const openRows = await listOpenRows(system.stores);
  const secrets = [...Object.values(plantedSecret), cluster.token];
  const written = `${system.stdout}${system.stderr}`;
  const problems = [
    ...report.problems,
    ...openRows.map((row) => `The row ${row} of open tasks is left`),
    ...secrets
      .filter((secret) => written.includes(secret))
      .map((secret) => `The log holds the secret '${secret}'`),
  ];
  return { ...report, problems };
}

function print({ operations, calls, seed, problems }: FuzzReport): void {
  for (const [name, { calls: number, statuses }] of Object.entries(operations)) {
    const answers = Object.entries(statuses).map(([status, count]) => `${status}: ${count}`);
    process.stdout.write(`${String(number).padStart(6)}  ${name}  (${answers.join(', ')})\n`);
  }
  for (const problem of problems) process.stdout.write(`\n${problem}\n`);
  process.stdout.write(`\n${calls} calls, ${problems.length} problems, seed ${seed}\n`);
}

function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}
