import { STSClient } from '@aws-sdk/client-sts';
import type { Clock } from '#core/clock.ts';
import { gatherBytes } from '#core/gathered-bytes.ts';
import { asJsonObject, asString, type JsonObject } from '#core/json.ts';
import { type AwsAccess, type AwsRequest, CallError, type JsonCall } from '../../ports/aws.ts';
import { signRequest } from './signature.ts';

/** What signs calls, and where they go. */
export interface SigningOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** Variables that may name AWS endpoints, as the SDK reads them: `AWS_ENDPOINT_URL_S3`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Milliseconds of one try, from the connection to the last byte. */
const timeoutMs = 5_000;

/** Prefixes of the hosts of services whose signing names differ. */
const hostNames = new Map([['ecr', 'api.ecr']]);

/** A call to AWS by its wire protocol: the SDK's clients would be larger than all other code of such calls. */
type SignedCall = AwsRequest & Pick<JsonCall, 'bytesMax' | 'signal'>;

/** Makes a call, once. @throws CallError for 429 and 5xx, and for an answer that is too large; what `fetch` throws without an answer. */
export async function sendSigned(
  { bytesMax, signal, ...request }: SignedCall,
  access: AwsAccess,
  clock: Pick<Clock, 'now'>,
): Promise<{ readonly status: number; readonly etag: string | undefined; readonly bytes: Buffer }> {
  const headers = await signRequest(request, access, clock.now());
  const { url, method, body } = request;
  const timeout = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, {
    method,
    headers,
    redirect: 'error',
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    ...(body !== undefined && { body }),
  });
  const { status } = response;
  const etag = response.headers.get('etag') ?? undefined;
  const bytes = await gatherBytes(response.body ?? [], bytesMax);
  if (bytes === undefined) throw new CallError('TooLarge', `it has more than ${bytesMax} bytes`, 200);
  if (status === 429 || status >= 500)
    throw new CallError('ServiceUnavailable', `it answers ${status}`, status);
  return { status, etag, bytes: Buffer.from(bytes) };
}

/** See `Aws.call`. */
export async function sendSignedJson(
  { target, input, repeatsReason = false, service, ...limits }: JsonCall,
  access: AwsAccess,
  { clock, environment }: SigningOptions,
): Promise<JsonObject> {
  const url = new URL('/', findEndpoint(service, access.region, environment));
  const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': target };
  const request = { service, method: 'POST', url, headers, body: JSON.stringify(input) };
  const { status, bytes } = await sendSigned({ ...request, ...limits }, access, clock);
  const members = parseObject(bytes);
  if (status === 200 && members !== undefined) return members;
  const code = /\w{1,60}$/.exec(asString(members?.['__type']) ?? '')?.[0] ?? `status ${status}`;
  const words = asString(members?.['message']) ?? asString(members?.['Message']);
  throw new CallError(code, (repeatsReason && words) || code, status);
}

/** The endpoint from the environment, as the SDK reads it; else the regional one, by the SDK's own table of partitions. */
export function findEndpoint(
  service: string,
  region: string,
  environment: SigningOptions['environment'],
): string {
  const named = environment[`AWS_ENDPOINT_URL_${service.toUpperCase()}`] || environment['AWS_ENDPOINT_URL'];
  if (named) return named;
  const { endpointProvider } = new STSClient({ region }).config;
  const { url } = endpointProvider({ Region: region, UseFIPS: false, UseDualStack: false });
  return `https://${url.hostname.replace(/^sts\./, `${hostNames.get(service) ?? service}.`)}`;
}

/** A parser's own message would quote the secret. */
function parseObject(bytes: Buffer): JsonObject | undefined {
  try {
    return asJsonObject(JSON.parse(bytes.toString('utf8')));
  } catch {
    return undefined;
  }
}
