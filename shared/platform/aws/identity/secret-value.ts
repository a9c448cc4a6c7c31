import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { SecretReading } from '#settings/secret-reference.ts';
import type { AwsAccess } from '../../ports/aws.ts';
import { toAwsFailure } from '../../ports/aws-failure.ts';
import { clientOptions } from './aws-access.ts';

/** A secret's text and the id of its version. */
export type LoadedSecret = Pick<SecretReading, 'text' | 'versionId'>;

/** The value of a secret in Secrets Manager. @param id name or ARN @throws Error that names it and says what to do. */
export async function getSecretValue(
  id: string,
  access: AwsAccess,
): Promise<{ readonly bytes: Buffer; readonly versionId: string | undefined }> {
  const client = new SecretsManagerClient({ ...clientOptions, ...access });
  try {
    const answer = await client.send(new GetSecretValueCommand({ SecretId: id }));
    const { SecretString, SecretBinary, VersionId } = answer;
    const bytes =
      SecretString === undefined ? Buffer.from(SecretBinary ?? []) : Buffer.from(SecretString, 'utf8');
    return { bytes, versionId: VersionId };
  } catch (error) {
    throw toAwsFailure(error, {
      what: `cannot read the secret ${id} in ${access.region}`,
      whenDenied:
        'allow secretsmanager:GetSecretValue on it to this process, and kms:Decrypt on its key if it has its own',
      whenMissing: 'check its name and its region, and that it has a value',
    });
  } finally {
    client.destroy();
  }
}
