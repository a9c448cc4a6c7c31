import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makePackage, packNpm } from '#infra/tools/package/package.ts';
import { expectProviderToWork } from '#test/support/providers/running-example.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';

const root = join(import.meta.dirname, '../../../..');
const nodeModules = join(root, 'node_modules');

let temp: TempDir;
/** The packed Busdriver, as a folder. */
let busdriver: string;
/** What `npm run new -- provider acme` makes. */
let provider: string;

beforeAll(async () => {
  temp = await makeTempDir();
  busdriver = join(temp.path, 'busdriver');
  await makePackage({ root, outputDir: busdriver });
  const main = join(root, 'test/architecture/new-main.ts');
  await run(process.execPath, [main, 'provider', 'acme'], temp.path);
  provider = join(temp.path, 'busdriver-provider-acme');
  // What npm ci would install.
  await mkdir(join(provider, 'node_modules/@types'), { recursive: true });
  for (const name of ['.bin', '@types/node', 'typescript', 'vitest', 'zod'])
    await symlink(join(nodeModules, name), join(provider, 'node_modules', name));
  await cp(busdriver, join(provider, 'node_modules/busdriver'), { recursive: true });
  await run('npm', ['run', 'prepack'], provider);
});
afterAll(() => temp[Symbol.asyncDispose]());

function run(program: string, args: readonly string[], cwd: string) {
  return promisify(execFile)(program, args, {
    cwd,
    env: { ...process.env, INIT_CWD: cwd },
    maxBuffer: 2 ** 24,
  });
}

test('a package with a provider passes the suites of the kit', async () => {
  const vitest = join(nodeModules, 'vitest/vitest.mjs');
  const outputFile = join(temp.path, 'report.json');
  await run(process.execPath, [vitest, 'run', '--reporter=json', `--outputFile=${outputFile}`], provider);
  const report = JSON.parse(await readFile(outputFile, 'utf8'));
  expect(report).toMatchObject({ success: true, numFailedTests: 0 });
  expect(report.numPassedTests).toBeGreaterThanOrEqual(18);
});

test('it works in an empty folder', async () => {
  const folder = join(temp.path, 'empty');
  await mkdir(folder);
  const packages = [await packNpm(busdriver), await packNpm(provider)];
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...packages], folder);
  const launcher = join(folder, 'node_modules/.bin/busdriver');
  const command = [launcher, 'start', '--provider', 'busdriver-provider-acme'] as const;
  await expectProviderToWork({ folder, command }, 'acme');
});

test('stacks bundle it into functions, show its grants and make them', async () => {
  const folder = join(temp.path, 'clone');
  await mkdir(join(folder, 'node_modules'), { recursive: true });
  await symlink(provider, join(folder, 'node_modules/busdriver-provider-acme'));
  const context = {
    ...{ providers: 'busdriver-provider-acme', authentication: 'iam', publicApi: true },
    machineArns: 'arn:aws:ec2:us-east-1:123456789012:instance/i-0123',
  };
  const output = join(temp.path, 'assembly');
  const set = [`CDK_CONTEXT_JSON=${JSON.stringify(context)}`, `CDK_OUTDIR=${output}`];
  const { stderr } = await run('env', [...set, process.execPath, join(root, 'infra/aws/app.ts')], folder);
  expect(stderr).toContain(
    "busdriver-provider-acme: what machineArns and machineArnPrefixes name lets functions ec2:StopInstances, hear 'EC2 Instance State-change Notification' of aws.ec2",
  );
  const texts = await Promise.all(
    (await readdir(output, { recursive: true }))
      .filter((file) => /\.(template\.json|mjs)$/.test(file))
      .map(async (file) => readFile(join(output, file), 'utf8')),
  );
  const countFiles = (text: string) => texts.filter((each) => each.includes(text)).length;
  expect(countFiles('"ec2:StopInstances"')).toBeGreaterThan(0);
  expect(countFiles('busdriver-dev-agents-ec2-events')).toBe(1);
  expect(countFiles('MachineCachingAgent')).toBeGreaterThan(0);
});
