import { once } from 'node:events';
import { explainFailure, formatHelp, one, optional, parseOptions, read, UsageError } from '#infra/options.ts';
import { createPipelines } from './pipelines.ts';
import { type Result, runPipelines } from './run-pipelines.ts';
import { createStubServices } from './stub-services.ts';

const program = {
  name: 'npm run test:orca --',
  about: `Runs 20 pipelines in an Orca whose services.clouddriver.baseUrl is Busdriver, and prints the row of docs/compatibility.md.
It deploys into a namespace that there is, and deletes what it has deployed.`,
  options: {
    orca: optional('--orca <URL>', 'where Orca answers', readUrl),
    account: one('--account <NAME>=default', 'an account of Busdriver', read.text),
    namespace: one('--namespace <NAME>=default', 'a namespace in its cluster', read.text),
    release: one('--release <NAME>=unknown', "Orca's release, for the report", read.text),
    image: one('--image <IMAGE>=registry.k8s.io/pause:3.10', 'image of workloads', read.text),
    jobImage: one('--job-image <IMAGE>=busybox:1.37', 'image of Jobs, with true and false', read.text),
    user: one('--user <NAME>=busdriver-test', 'who runs the pipelines', read.text),
    timeout: one('--timeout <SECONDS>=600', 'how long a pipeline may take', read.number(1, 7200)),
    poll: one('--poll <MS>=1000', 'milliseconds between two looks', read.number(10, 60_000)),
    stubs: optional(
      '--stubs <PORT>',
      'only play Front50 and Echo for Orca, on this port, until Ctrl-C',
      read.port,
    ),
  },
};

/** `npm run test:orca`. @returns the exit code: 1 where a pipeline ended otherwise than it should */
async function main(args: readonly string[]): Promise<number> {
  const { help, orca, stubs, release, timeout, poll, ...values } = parseOptions(program, args);
  if (help) {
    console.log(formatHelp(program));
    return 0;
  }
  if (stubs !== undefined) return serveStubs(stubs);
  if (orca === undefined) throw new UsageError('--orca: expected the URL of an Orca');
  const results = await runPipelines(createPipelines(values), {
    ...{ orca, user: values.user, timeoutMs: timeout * 1000, pollIntervalMs: poll },
  });
  for (const { name, expected, status, ref } of results)
    console.log(`${status === expected ? 'ok    ' : 'failed'} ${name}: ${status} ${ref}`);
  console.log(`\n${toRow(results, release)}`);
  return results.every(({ status, expected }) => status === expected) ? 0 : 1;
}

/** The row of docs/compatibility.md. */
function toRow(results: readonly Result[], release: string): string {
  const good = results.filter(({ status, expected }) => status === expected).length;
  const today = new Date().toISOString().slice(0, 10);
  return `| Orca | ${release} | \`npm run test:orca\`, ${today} | ${good} of ${results.length} pipelines |`;
}

async function serveStubs(port: number): Promise<number> {
  const server = createStubServices().listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  console.log(`Front50 and Echo: http://127.0.0.1:${typeof address === 'object' ? address?.port : port}`);
  await Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal)));
  server.close();
  server.closeAllConnections();
  return 0;
}

function readUrl(text: string, flag: string): string {
  if (URL.canParse(text) && /^https?:/.test(text)) return text;
  throw new UsageError(`${flag}: expected a URL such as http://127.0.0.1:8083, not '${text}'`);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.exitCode = explainFailure(error, program);
}
