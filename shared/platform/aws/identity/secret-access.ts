import type { AwsCredentialIdentity } from '@smithy/types';
import type { SecretReading } from '#settings/secret-reference.ts';

/** As whom, and where, a secret is read. */
export interface SecretAccess {
  readonly region: string;
  readonly credentials: AwsCredentialIdentity;
}

/** A secret's text and what names its version. */
export type LoadedSecret = Pick<SecretReading, 'text' | 'versionId'>;
