import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Row } from '../../../infra/check/rows.ts';
import { root } from '../../architecture/source-files.ts';
import { compileCache } from '../../support/run/compile-cache.ts';
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
  clusterArns: recorded.clusterArn,
  accountRoleArns: recorded.roleArn,
};

/** Where the command looks. */
export interface DeployCheckTarget {
  /** Undefined for AWS' own, which a test must not reach without being refused at once. */
  readonly endpoint?: string;
  /** Undefined for none. */
  readonly region?: string | undefined;
}

/** Runs the real command. */
export async function runDeployCheck(
  args: readonly string[],
  { endpoint, region = recorded.region }: DeployCheckTarget,
): Promise<DeployCheckResult> {
  const own = Object.entries(process.env).filter(([name]) => !/^(AWS_|VITEST|NODE_OPTIONS$)/.test(name));
  const child = spawn(process.execPath, [join(root, 'infra/check/main.ts'), ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...Object.fromEntries(own),
      ...compileCache,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
      ...(region !== '' && { AWS_REGION: region }),
      ...(endpoint !== undefined && { AWS_ENDPOINT_URL: endpoint }),
    },
  });
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve)),
  ]);
  return { code, stdout, stderr };
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
