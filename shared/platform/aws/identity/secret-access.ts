import type { AwsCredentialIdentity } from '@smithy/types';
import type { SecretReading } from '#settings/secret-reference.ts';

/** The identity and region for reading a secret. */
export interface SecretAccess {
  readonly region: string;
  readonly credentials: AwsCredentialIdentity;
}

/** A secret's text and the id of its version. */
export type LoadedSecret = Pick<SecretReading, 'text' | 'versionId'>;
