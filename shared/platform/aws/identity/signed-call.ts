import { STSClient } from '@aws-sdk/client-sts';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Clock } from '#core/clock.ts';
import { asJsonObject, asString, type JsonObject } from '#core/json.ts';
import type { SecretAccess } from './secret-access.ts';

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
export interface SignedCall {
  readonly service: 's3' | 'ssm' | 'ecr';
  readonly method: 'GET' | 'POST';
  /** Percent-encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Maximum bytes of the answer. */
  readonly bytesMax: number;
  /** Aborts the call. */
  readonly signal?: AbortSignal;
}

/** A call to a service with a JSON protocol. */
export interface JsonCall extends Pick<SignedCall, 'service' | 'bytesMax' | 'signal'> {
  /** `AmazonSSM.GetParameter` */
  readonly target: string;
  readonly input: JsonObject;
  /** Whether an error may include AWS' message besides its code; the message may quote the input. Default false. */
  readonly repeatsReason?: boolean;
}

/** A refusal by AWS; its name is AWS' code. */
export class CallError extends Error {
  /** Whether the same call may be answered a moment later. */
  readonly isPassing: boolean;

  constructor(code: string, message: string, status: number) {
    super(message);
    this.name = code;
    this.isPassing = status === 429 || status >= 500 || /throttl|slowdown|too ?many/i.test(code);
  }
}

/** Makes a call, once. @throws CallError for 429 and 5xx, and for an answer that is too large; what `fetch` throws without an answer. */
export async function sendSigned(
  { service, method, path, headers, body, bytesMax, signal }: SignedCall,
  { region, credentials }: SecretAccess,
  { clock, environment }: SigningOptions,
): Promise<{ readonly status: number; readonly etag: string | undefined; readonly bytes: Buffer }> {
  const endpoint = new URL(findEndpoint(service, region, environment));
  const signer = new SignatureV4({
    credentials,
    region,
    service,
    sha256: Sha256,
    uriEscapePath: service !== 's3',
  });
  const request = { method, protocol: endpoint.protocol, hostname: endpoint.hostname, path, query: {} };
  const { headers: signed } = await signer.sign(
    { ...request, headers: { ...headers, host: endpoint.host }, ...(body !== undefined && { body }) },
    { signingDate: new Date(clock.now()) },
  );
  const { host: _, ...sent } = signed;
  const timeout = AbortSignal.timeout(timeoutMs);
  const response = await fetch(new URL(path, endpoint), {
    method,
    headers: sent,
    redirect: 'error',
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    ...(body !== undefined && { body }),
  });
  const { status } = response;
  const etag = response.headers.get('etag') ?? undefined;
  const bytes = await readBody(response, bytesMax);
  if (status === 429 || status >= 500)
    throw new CallError('ServiceUnavailable', `it answers ${status}`, status);
  return { status, etag, bytes };
}

/** Calls AWS' JSON protocol 1.1, once. @returns the body @throws CallError for a refusal; what `fetch` throws without an answer */
export async function sendSignedJson(
  { target, input, repeatsReason = false, ...call }: JsonCall,
  access: SecretAccess,
  options: SigningOptions,
): Promise<JsonObject> {
  const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': target };
  const sent = { ...call, method: 'POST', path: '/', headers, body: JSON.stringify(input) } as const;
  const { status, bytes } = await sendSigned(sent, access, options);
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

async function readBody(response: Response, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new CallError('TooLarge', `it has more than ${bytesMax} bytes`, 200);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A parser's own message would quote the secret. */
function parseObject(bytes: Buffer): JsonObject | undefined {
  try {
    return asJsonObject(JSON.parse(bytes.toString('utf8')));
  } catch {
    return undefined;
  }
}
