import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { asJsonObject, asString } from '../../core/json.ts';
import type { SecretReader, SecretReference } from '../../core/settings/secret-reference.ts';
import { toAwsFailure } from '../aws-failure.ts';
import { type AwsIdentities, clientOptions, getRegion } from './aws-identity.ts';

/** Secrets Manager by way of the AWS SDK, with the identity of this process. */
export function createSecretReader(identities: AwsIdentities): SecretReader {
  return {
    async read(reference) {
      const text = await readText(reference, identities);
      return reference.key === undefined ? text : readMember(text, reference);
    },
  };
}

async function readText({ id, region }: SecretReference, identities: AwsIdentities): Promise<string> {
  const where = await getRegion({ region });
  const credentials = await identities.getCredentials({ region });
  const client = new SecretsManagerClient({ ...clientOptions, region: where, credentials });
  try {
    const answer = await client.send(new GetSecretValueCommand({ SecretId: id }));
    return answer.SecretString ?? Buffer.from(answer.SecretBinary ?? []).toString('utf8');
  } catch (error) {
    throw toAwsFailure(error, {
      what: `cannot read the secret ${id} in ${where}`,
      whenDenied:
        'allow secretsmanager:GetSecretValue on it to this process, and kms:Decrypt on its key if it has its own',
      whenMissing: 'check its name and its region, and that it has a value',
    });
  } finally {
    client.destroy();
  }
}

/** One member of a secret that is a JSON object. The parser's own message would quote the secret. */
function readMember(text: string, { id, key = '' }: SecretReference): string {
  let members: unknown;
  try {
    members = JSON.parse(text);
  } catch {
    throw new Error(`the secret ${id} is no JSON: expected an object with the key "${key}"`);
  }
  const member = asString(asJsonObject(members)?.[key]);
  if (member === undefined) throw new Error(`the secret ${id} has no text under the key "${key}"`);
  return member;
}
