import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Aws, AwsAccess, AwsRequest } from '../../ports/aws.ts';

/** See `Aws.sign`. @param atMs wall time of the signature, milliseconds since the epoch */
export async function signRequest(
  request: AwsRequest,
  access: AwsAccess,
  atMs: number,
): ReturnType<Aws['sign']> {
  const signed = await createSigner(request, access).sign(toMessage(request), {
    signingDate: new Date(atMs),
  });
  const { host: _, ...headers } = signed.headers;
  return headers;
}

/** See `Aws.presign`. @param at wall time of the signature, milliseconds since the epoch, and its stated validity */
export async function presignRequest(
  request: AwsRequest,
  access: AwsAccess,
  { atMs, seconds }: { readonly atMs: number; readonly seconds: number },
): ReturnType<Aws['presign']> {
  const { query = {} } = await createSigner(request, access).presign(toMessage(request), {
    signingDate: new Date(atMs),
    expiresIn: seconds,
    unhoistableHeaders: new Set(Object.keys(request.headers ?? {})),
  });
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]));
}

function createSigner({ service }: AwsRequest, access: AwsAccess): SignatureV4 {
  return new SignatureV4({
    ...{ ...access, service, sha256: Sha256 },
    // Others who send a request to STS expect no more headers than it needs: Google documents them.
    applyChecksum: service !== 'sts',
    // S3 signs paths as they are sent.
    uriEscapePath: service !== 's3',
  });
}

function toMessage({ method, url, headers, body }: AwsRequest) {
  return {
    ...{ method, protocol: url.protocol, hostname: url.hostname, path: url.pathname },
    query: Object.fromEntries(url.searchParams),
    headers: { ...headers, host: url.host },
    ...(body !== undefined && { body }),
  };
}
