import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Clock, Randomness } from '../../core/clock.ts';
import { asJsonObject, asString } from '../../core/json.ts';
import type { LookupStore } from '../../core/lookup.ts';
import { FollowedSecrets } from '../../core/settings/followed-secrets.ts';
import type { SecretReader, SecretReading, SecretReference } from '../../core/settings/secret-reference.ts';
import { toAwsFailure } from '../aws-failure.ts';
import { type AwsIdentities, clientOptions, getRegion } from './aws-identity.ts';

/** What secrets are read with. */
export interface SecretReaderOptions {
  readonly identities: AwsIdentities;
  readonly clock: Pick<Clock, 'now'>;
  readonly randomness: Pick<Randomness, 'fraction'>;
  /** Where processes tell each other which versions secrets have. Left out, each reads them for itself. */
  readonly store?: LookupStore | undefined;
}

/** Secrets Manager by way of the AWS SDK, with the identity of this process. */
export function createSecretReader({ identities, ...options }: SecretReaderOptions): SecretReader {
  const load = (reference: SecretReference) => loadMember(reference, identities);
  const followed = new FollowedSecrets({ ...options, load });
  return {
    read: async (reference) => (await load(reference)).text,
    follow: (reference, known) => followed.follow(reference, known),
  };
}

type LoadedSecret = Pick<SecretReading, 'text' | 'versionId'>;

async function loadMember(reference: SecretReference, identities: AwsIdentities): Promise<LoadedSecret> {
  const { text, versionId } = await loadSecret(reference, identities);
  return { text: reference.key === undefined ? text : readMember(text, reference), versionId };
}

async function loadSecret({ id, region }: SecretReference, identities: AwsIdentities): Promise<LoadedSecret> {
  const where = await getRegion({ region });
  const credentials = await identities.getCredentials({ region });
  const client = new SecretsManagerClient({ ...clientOptions, region: where, credentials });
  try {
    const answer = await client.send(new GetSecretValueCommand({ SecretId: id }));
    const text = answer.SecretString ?? Buffer.from(answer.SecretBinary ?? []).toString('utf8');
    return { text, versionId: answer.VersionId };
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
