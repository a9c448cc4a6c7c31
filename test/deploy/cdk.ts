import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { readdir, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { localAccountId, localRegion } from '#infra/server/functions/local-aws.ts';
import { readTail } from './ministack.ts';

const root = path.join(import.meta.dirname, '../..');
/** Where CDK looks for the zips of an assembly's functions, and leaves them. */
const zipFolder = '.cache';

const cdk = path.join(root, 'node_modules', '.bin', 'cdk');

/** Where the real command of CDK works. */
export interface CdkOptions {
  /** Endpoint of the emulator. */
  readonly endpoint: string;
  /** Receives all that CDK writes. */
  readonly logFile: string;
  /** Existing folder where CDK keeps the zips of functions: what one deploy has packed, others need not pack again. */
  readonly packages: string;
}

/** Options of the app of CDK: `-c name=value`. */
export type StackOptions = { readonly [name: string]: string };

/**
 * Runs the command of CDK.
 *
 * @throws Error when it ends with another code than 0, with the end of what it wrote
 */
export async function runCdk(args: readonly string[], { endpoint, logFile }: CdkOptions): Promise<void> {
  const log = createWriteStream(logFile, { flags: 'a' });
  log.write(`\n$ cdk ${args.join(' ')}\n`);
  const child = spawn(cdk, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: toEnvironment(endpoint),
  });
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  await new Promise((resolve) => log.end(resolve));
  if (code !== 0) throw new Error(`cdk ${args[0]} ended with ${code}. ${await readTail(logFile)}`);
}

/** Makes what CDK needs in an account, as an operator does once. */
export async function bootstrapAccount(assembly: string, options: CdkOptions): Promise<void> {
  await runCdk(['bootstrap', `aws://${localAccountId}/${localRegion}`, '--app', assembly], options);
}

/** Writes templates and bundles into a folder, from which `deployStacks` and `destroyStacks` work. */
export async function synthesizeStacks(
  assembly: string,
  context: StackOptions,
  options: CdkOptions,
): Promise<void> {
  const choices = Object.entries(context).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  await runCdk(['synth', '--quiet', '--output', assembly, ...choices], options);
}

/** Deploys all stacks of an assembly. */
export async function deployStacks(assembly: string, options: CdkOptions): Promise<void> {
  const entries = await readdir(assembly);
  if (!entries.includes(zipFolder)) await symlink(options.packages, path.join(assembly, zipFolder));
  const flags = ['--require-approval', 'never', '--progress', 'events', '--concurrency', '4'];
  await runCdk(['deploy', '--all', '--app', assembly, ...flags], options);
}

/** Deletes all stacks of an assembly. */
export async function destroyStacks(assembly: string, options: CdkOptions): Promise<void> {
  await runCdk(['destroy', '--all', '--force', '--app', assembly], options);
}

/** What an assembly consists of. */
export interface AssemblySize {
  readonly stacks: number;
  readonly nestedStacks: number;
  readonly resources: number;
}

/** Counts what an assembly's templates have. */
export async function measureAssembly(assembly: string): Promise<AssemblySize> {
  const names = await readdir(assembly);
  const nested = names.filter((name) => name.endsWith('.nested.template.json'));
  const all = names.filter((name) => name.endsWith('.template.json'));
  const counts = await Promise.all(
    all.map(async (name) => {
      const template: { Resources?: object } = JSON.parse(await readFile(path.join(assembly, name), 'utf8'));
      return Object.keys(template.Resources ?? {}).length;
    }),
  );
  return {
    stacks: all.length - nested.length,
    nestedStacks: nested.length,
    resources: counts.reduce((sum, count) => sum + count, 0),
  };
}

/** This process's environment, with the emulator in the place of AWS and of the developer's own account. */
function toEnvironment(endpoint: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(AWS_|VITEST|NODE_OPTIONS$)/.test(name));
  return {
    ...Object.fromEntries(own),
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: localRegion,
    AWS_DEFAULT_REGION: localRegion,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_EC2_METADATA_DISABLED: 'true',
    CDK_DISABLE_CLI_TELEMETRY: 'true',
    CI: 'true',
  };
}
