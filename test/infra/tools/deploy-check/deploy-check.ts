import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { vi } from 'vitest';
import { runCheckCommand } from '#infra/tools/deploy-check/command.ts';
import type { DeploymentPlan } from '#infra/tools/deploy-check/deployment-plan.ts';
import type { Row } from '#infra/tools/deploy-check/rows.ts';
import { root } from '#test/architecture/source-files.ts';
import { recorded } from './recorded-answers.ts';

/** How the command ended. */
export interface DeployCheckResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The installation that the recorded account is ready for. */
export const recordedOptions: { readonly [name: string]: string } = {
  stage: 'prod',
  authentication: 'secret',
  vpcId: recorded.vpcId,
  subnetIds: recorded.subnetIds.join(','),
  clientCidrs: '10.20.0.0/16',
  domainName: recorded.domainName,
  certificateArn: recorded.certificateArn,
  encryptionKeyArn: recorded.keyArn,
  configSecretArn: recorded.secretArn,
  permissionsBoundaryArn: recorded.boundaryArn,
  alarmTopicArn: recorded.topicArn,
};

/** Where the command looks. */
export interface DeployCheckTarget {
  /** Undefined for AWS' own, which a test must not reach without being refused at once. */
  readonly endpoint?: string;
  /** Undefined for none. */
  readonly region?: string | undefined;
}

/** The variables by which the command finds an account. */
function getEnvironment({ endpoint, region = recorded.region }: DeployCheckTarget) {
  return {
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    ...(region !== '' && { AWS_REGION: region }),
    ...(endpoint !== undefined && { AWS_ENDPOINT_URL: endpoint }),
  };
}

/** Runs the real command in a process of its own. */
export async function runDeployCheck(
  args: readonly string[],
  target: DeployCheckTarget,
): Promise<DeployCheckResult> {
  const own = Object.entries(process.env).filter(([name]) => !/^(AWS_|VITEST|NODE_OPTIONS$)/.test(name));
  const child = spawn(process.execPath, [join(root, 'infra/tools/deploy-check/main.ts'), ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...Object.fromEntries(own), ...getEnvironment(target) },
  });
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve)),
  ]);
  return { code, stdout, stderr };
}

/** Plans by options in JSON: the CDK takes seconds for each. */
const plans = new Map<string, Promise<DeploymentPlan>>();

async function plan(options: { readonly [name: string]: unknown }): Promise<DeploymentPlan> {
  const { planDeployment } = await import('#infra/tools/deploy-check/deployment-plan.ts');
  const key = JSON.stringify(options);
  const made = plans.get(key) ?? Promise.resolve(planDeployment(options));
  plans.set(key, made);
  return made;
}

/** Does what the command does in this process, where the CDK is loaded once for many calls. */
export async function callDeployCheck(
  args: readonly string[],
  target: DeployCheckTarget,
): Promise<DeployCheckResult> {
  const stdout: string[] = [];
  const stderr: string[] = [];
  using _ = useAccount(target);
  const print = (line: string) => void stdout.push(`${line}\n`);
  const code = await runCheckCommand(args, { print, note: (line) => void stderr.push(`${line}\n`), plan });
  return { code, stdout: stdout.join(''), stderr: stderr.join('') };
}

/** Lets clients of this process find an account, and no other, until it is disposed of. */
export function useAccount(target: DeployCheckTarget): Disposable {
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(getEnvironment(target))) vi.stubEnv(name, value);
  return { [Symbol.dispose]: () => vi.unstubAllEnvs() };
}

/** Options of the stacks as arguments. */
export function toArguments(options: { readonly [name: string]: string }): string[] {
  return Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** The rows of a report in JSON. */
export function parseRows({ stdout }: DeployCheckResult): readonly Row[] {
  const report: { readonly rows: readonly Row[] } = JSON.parse(stdout);
  return report.rows;
}
