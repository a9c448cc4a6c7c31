import { defaultProvider } from '@aws-sdk/credential-provider-node';
import type { AwsRequest } from '../../ports/aws.ts';
import { toAwsFailure } from '../../ports/aws-failure.ts';
import { signRequest } from './signature.ts';
import type { SigningOptions } from './signed-call.ts';
import { silentLog } from './silent-log.ts';

/** A request to an API of API Gateway, without a query. */
export type GatewayRequest = Required<Pick<AwsRequest, 'method' | 'url' | 'body'>>;

/** What requests are signed with. */
export interface GatewaySignerOptions extends SigningOptions {
  /** Region of the API. Default: the one in its API Gateway host name, else `AWS_REGION`. */
  readonly region?: string | undefined;
}

/** Returns the headers that sign a request. @throws Error where there are no credentials, or no region is known */
export type GatewaySigner = (request: GatewayRequest) => Promise<Readonly<Record<string, string>>>;

/**
 * Signs requests by Signature Version 4 for `execute-api`, with the credentials of this process: of IRSA, EKS Pod Identity, a profile …
 * They are remembered until shortly before they expire.
 */
export function createGatewaySigner({ clock, region, environment }: GatewaySignerOptions): GatewaySigner {
  const findCredentials = defaultProvider({ logger: silentLog });
  return async ({ method, url, body }) => {
    const credentials = await findCredentials().catch((error: unknown) => {
      throw toAwsFailure(error, { what: 'no AWS credentials were found', whenDenied: '' });
    });
    const access = { credentials, region: region ?? findRegion(url, environment) };
    return signRequest({ service: 'execute-api', method, url, body }, access, clock.now());
  };
}

/** `https://<api>.execute-api.<region>.amazonaws.com` */
function findRegion({ hostname }: URL, environment: GatewaySignerOptions['environment']): string {
  const [, named] = /\.execute-api\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?$/.exec(hostname) ?? [];
  const region = named ?? (environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION']);
  if (region) return region;
  throw new Error('no region of AWS is known: name it in busdriver.region, or set AWS_REGION');
}
