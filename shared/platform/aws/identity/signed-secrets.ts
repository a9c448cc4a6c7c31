import { retry } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { asJsonObject, asString } from '#core/json.ts';
import { encodeStrictly } from '#core/uri.ts';
import { type AwsAccess, CallError } from '../../ports/aws.ts';
import { toAwsFailure } from '../../ports/aws-failure.ts';
import type { LoadedSecret } from './secret-value.ts';
import { findEndpoint, type SigningOptions, sendSigned, sendSignedJson } from './signed-call.ts';

interface SignedCallOptions extends SigningOptions {
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly randomness: Pick<Randomness, 'fraction'>;
}

/** Maximum bytes of a secret in S3. */
export const secretObjectBytesMax = 2 ** 20;
const triesMax = 3;

/** The text of an object in S3; its ETag is its version's id. @param id `bucket/key` @throws Error that names it and says what to do. */
export async function loadObject(
  id: string,
  access: AwsAccess,
  options: SignedCallOptions,
): Promise<LoadedSecret> {
  const path = `/${id.split('/').map(encodeStrictly).join('/')}`;
  try {
    const url = new URL(path, findEndpoint('s3', access.region, options.environment));
    // Dots would lead out of the bucket.
    if (url.pathname !== path) throw new CallError('InvalidURI', 'InvalidURI', 400);
    const request = { service: 's3', method: 'GET', url, bytesMax: secretObjectBytesMax };
    const answer = await repeat(options, () => sendSigned(request, access, options.clock));
    if (answer.status === 200) return { text: answer.bytes.toString('utf8'), versionId: answer.etag };
    const xml = answer.bytes.toString('utf8', 0, 4_096);
    const code = /<Code>(\w{1,60})<\/Code>/.exec(xml)?.[1] ?? `status ${answer.status}`;
    throw new CallError(code, code, answer.status);
  } catch (error) {
    throw toAwsFailure(error, {
      what: `cannot read the object ${id} of S3 in ${access.region}`,
      whenDenied: 'allow s3:GetObject on it to this process, and kms:Decrypt on its key if it has its own',
      whenMissing: 'check its bucket, its key and its region',
    });
  }
}

/** The value of an SSM parameter, decrypted. @param name its name or ARN @throws Error that names it and says what to do */
export async function loadParameter(
  name: string,
  access: AwsAccess,
  options: SignedCallOptions,
): Promise<LoadedSecret> {
  const request = {
    service: 'ssm',
    target: 'AmazonSSM.GetParameter',
    input: { Name: name, WithDecryption: true },
    bytesMax: secretObjectBytesMax,
  };
  try {
    const answer = await repeat(options, () => sendSignedJson(request, access, options));
    const parameter = asJsonObject(answer['Parameter']);
    const text = asString(parameter?.['Value']);
    if (text === undefined) throw new CallError('status 200', 'status 200', 200);
    return { text, versionId: String(parameter?.['Version']) };
  } catch (error) {
    throw toAwsFailure(error, {
      what: `cannot read the parameter ${name} in ${access.region}`,
      whenDenied:
        'allow ssm:GetParameter on it to this process, and kms:Decrypt on its key if it has its own',
      whenMissing: 'check its name and its region',
    });
  }
}

/** Makes a call, and retries it while AWS throttles or is unavailable. */
function repeat<T>({ clock, randomness }: SignedCallOptions, send: () => Promise<T>): Promise<T> {
  const isRetryable = (error: unknown): boolean => !(error instanceof CallError) || error.isPassing;
  return retry({ backOff: { firstMs: 200 }, triesMax, clock, randomness, isRetryable }, send);
}
