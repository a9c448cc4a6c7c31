import {
  CreateAccessKeyCommand,
  CreateRoleCommand,
  CreateUserCommand,
  IAMClient,
  PutRolePolicyCommand,
  PutUserPolicyCommand,
} from '@aws-sdk/client-iam';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import type { AwsCredentialIdentity } from '@smithy/types';
import { describe, test } from 'vitest';
import { startMinistack } from '#test/deploy/ministack.ts';
import { findPythonProblem, openPythonEnvironment } from '#test/deploy/python-environment.ts';
import { makeTempDir } from '../run/temp-dir.ts';

const missing = await findPythonProblem();

const region = 'us-east-1';
/** The emulator's administrator. */
const root: AwsCredentialIdentity = { accessKeyId: 'test', secretAccessKey: 'test' };

/** What an identity may do: actions by the ARN of what they are for. */
export type Permissions = Readonly<Record<string, readonly string[]>>;

/** An emulated AWS that checks signatures and permissions. Disposing stops it. */
export interface EmulatedS3 extends AsyncDisposable {
  /** `http://127.0.0.1:41234`: S3, STS and all others. */
  readonly endpoint: string;
  readonly region: string;
  /** Makes a bucket that keeps earlier versions of its objects. */
  createBucket(name: string): Promise<void>;
  /** Puts an object, or another version of it. @param path percent-encoded, without a slash at its start @returns its version */
  putObject(bucket: string, path: string, content: string | Buffer): Promise<string>;
  /** Makes a user with a key. */
  createUser(name: string, permissions: Permissions): Promise<AwsCredentialIdentity>;
  /** Makes a role that the account may assume who knows its external id. @returns its ARN */
  createRole(name: string, externalId: string, permissions: Permissions): Promise<string>;
}

/** `describe` for tests that need an emulated S3. Without Python they are skipped, with the reason as title. */
export function describeWithS3(name: string, define: () => void): void {
  if (missing === undefined) describe(name, define);
  else describe(name, () => test.skip(`skipped: ${missing}`));
}

/** Starts the emulator of `npm run test:deploy` by itself. The first time, its packages are installed. */
export async function startEmulatedS3(): Promise<EmulatedS3> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await makeTempDir());
  const environment = await openPythonEnvironment();
  const ministack = stack.use(await startMinistack(environment, folder.path, { AUTH: 'true' }));
  const { endpoint } = ministack;
  const iam = new IAMClient({ endpoint, region, credentials: root });
  stack.defer(() => iam.destroy());
  const resources = stack.move();
  return {
    ...{ endpoint, region, ...createBuckets(endpoint), ...createIdentities(iam) },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function createBuckets(endpoint: string): Pick<EmulatedS3, 'createBucket' | 'putObject'> {
  return {
    async createBucket(name) {
      const versioning =
        '<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Status>Enabled</Status></VersioningConfiguration>';
      await put(new URL(name, endpoint));
      await put(new URL(`${name}?versioning=`, endpoint), versioning);
    },
    async putObject(bucket, path, content) {
      const response = await put(new URL(`/${bucket}/${path}`, endpoint), content);
      return response.headers.get('x-amz-version-id') ?? '';
    },
  };
}

function createIdentities(iam: IAMClient): Pick<EmulatedS3, 'createUser' | 'createRole'> {
  return {
    async createUser(UserName, permissions) {
      await iam.send(new CreateUserCommand({ UserName }));
      const policy = { UserName, PolicyName: 'test', PolicyDocument: toPolicy(permissions) };
      await iam.send(new PutUserPolicyCommand(policy));
      const { AccessKey } = await iam.send(new CreateAccessKeyCommand({ UserName }));
      const { AccessKeyId = '', SecretAccessKey = '' } = AccessKey ?? {};
      return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey };
    },
    async createRole(RoleName, externalId, permissions) {
      const AssumeRolePolicyDocument = JSON.stringify({
        Version: '2012-10-17',
        Statement: [
          {
            Effect: 'Allow',
            Principal: { AWS: 'arn:aws:iam::000000000000:root' },
            Action: 'sts:AssumeRole',
            Condition: { StringEquals: { 'sts:ExternalId': externalId } },
          },
        ],
      });
      const { Role } = await iam.send(new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument }));
      const policy = { RoleName, PolicyName: 'test', PolicyDocument: toPolicy(permissions) };
      await iam.send(new PutRolePolicyCommand(policy));
      return Role?.Arn ?? '';
    },
  };
}

function toPolicy(permissions: Permissions): string {
  const Statement = Object.entries(permissions).map(([Resource, Action]) => ({
    ...{ Effect: 'Allow', Action, Resource },
  }));
  return JSON.stringify({ Version: '2012-10-17', Statement });
}

/** Sends a signed PUT as the administrator. @throws Error for an answer that is not 2xx */
async function put(url: URL, body: string | Buffer = ''): Promise<Response> {
  const signer = new SignatureV4({
    ...{ credentials: root, region, service: 's3', sha256: Sha256, uriEscapePath: false },
  });
  const { headers } = await signer.sign({
    ...{ method: 'PUT', protocol: 'http:', hostname: url.hostname, path: url.pathname, body },
    ...{ query: Object.fromEntries(url.searchParams), headers: { host: url.host } },
  });
  const response = await fetch(url, { method: 'PUT', headers, body: new Uint8Array(Buffer.from(body)) });
  if (!response.ok) throw new Error(`PUT ${url}: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
  return response;
}
