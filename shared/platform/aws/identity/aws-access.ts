import type { Aws } from '../../ports/aws.ts';
import { AwsIdentities, clientOptions, getRegion } from './aws-identity.ts';
import { presignRequest, signRequest } from './signature.ts';
import { findEndpoint, type SigningOptions, sendSignedJson } from './signed-call.ts';

/** AWS, as this process reaches it. */
export function createAws(options: SigningOptions): Aws {
  const { clock, environment } = options;
  const identities = new AwsIdentities(clock);
  return {
    clientOptions,
    credentials:
      (identity = {}) =>
      ({ forceRefresh } = {}) =>
        identities.getCredentials(identity, forceRefresh),
    getRegion: (identity = {}) => getRegion(identity),
    getEndpoint: (service, region, { isPublic = false } = {}) =>
      findEndpoint(service, region, isPublic ? {} : environment),
    sign: (request, access) => signRequest(request, access, clock.now()),
    presign: (request, access, seconds) => presignRequest(request, access, { atMs: clock.now(), seconds }),
    call: (call, access) => sendSignedJson(call, access, options),
  };
}
