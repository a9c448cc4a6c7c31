import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Clock } from '#core/clock.ts';
import type { S3Service } from '../../ports/s3.ts';
import { type AwsIdentities, getRegion } from './aws-identity.ts';
import { findEndpoint } from './signed-call.ts';

/** What requests are signed with. */
export interface S3SignerOptions {
  readonly identities: Pick<AwsIdentities, 'getCredentials'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Variables that may name the endpoint: `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Signs reads of S3 with an account's key, or as this process or a role. */
export function createS3Service({ identities, clock, environment }: S3SignerOptions): S3Service {
  return {
    async getEndpoint(given) {
      const region = await getRegion({ ...(given && { region: given }) });
      return { region, url: new URL(findEndpoint('s3', region, environment)).origin };
    },
    async signGet(url, region, { key, roleArn, externalId }) {
      const identity = { region, ...(roleArn && { roleArn }), ...(externalId && { externalId }) };
      const credentials = key ?? (await identities.getCredentials(identity));
      const signer = new SignatureV4({
        ...{ credentials, region, service: 's3', sha256: Sha256 },
        // The path is signed as sent.
        uriEscapePath: false,
      });
      const request = {
        ...{ method: 'GET', protocol: url.protocol, hostname: url.hostname, path: url.pathname },
        query: Object.fromEntries(url.searchParams),
        headers: { host: url.host },
      };
      const { headers } = await signer.sign(request, { signingDate: new Date(clock.now()) });
      const { host: _, ...signed } = headers;
      return signed;
    },
  };
}
