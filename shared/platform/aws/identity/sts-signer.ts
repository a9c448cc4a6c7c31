import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Clock } from '#core/clock.ts';
import type { StsService } from '../../ports/sts.ts';
import { type AwsIdentities, getRegion } from './aws-identity.ts';
import { findEndpoint } from './signed-call.ts';

interface StsSignerOptions {
  readonly identities: Pick<AwsIdentities, 'getCredentials'>;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Signs requests by which others identify this process. They are for AWS' own endpoint of the region, whatever endpoints this process has
 * for itself (VPC, FIPS): their senders know no other.
 */
export function createStsService({ identities, clock }: StsSignerOptions): StsService {
  return {
    async signCallerIdentity(headers) {
      const region = await getRegion({});
      const { hostname } = new URL(findEndpoint('sts', region, {}));
      const credentials = await identities.getCredentials({ region });
      const signer = new SignatureV4({
        ...{ credentials, region, service: 'sts', sha256: Sha256 },
        // Google documents the headers to sign.
        applyChecksum: false,
      });
      const query = { Action: 'GetCallerIdentity', Version: '2011-06-15' };
      const signed = await signer.sign(
        {
          ...{ method: 'POST', protocol: 'https:', hostname, path: '/', query },
          headers: { ...headers, host: hostname },
        },
        { signingDate: new Date(clock.now()) },
      );
      return { url: `https://${hostname}?${new URLSearchParams(query)}`, headers: signed.headers };
    },
  };
}
