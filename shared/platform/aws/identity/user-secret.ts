import { DescribeSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { asJsonObject, asString } from '#core/json.ts';
import type { SecretReference } from '#settings/secret-reference.ts';
import type { AwsAccess } from '../../ports/aws.ts';
import { toAwsFailure } from '../../ports/aws-failure.ts';
import { clientOptions } from './aws-access.ts';
import { getSecretValue, type LoadedSecret } from './secret-value.ts';

/** The tags of a user secret: names and meaning are Spinnaker's. */
const tags = {
  type: 'spinnaker:user-secret-type',
  encoding: 'spinnaker:encoding',
  roles: 'spinnaker:roles',
};

/** A user secret: all of type `string`, of `opaque` the member named. @throws Error that names it, and what its tags lack */
export async function loadUserSecret(
  { id, key }: SecretReference,
  access: AwsAccess,
  parseYaml: (text: string) => Promise<unknown>,
): Promise<LoadedSecret> {
  const [given, { bytes, versionId }] = await Promise.all([readTags(id, access), getSecretValue(id, access)]);
  const type = given.get(tags.type);
  if (type === 'string') return { text: bytes.toString('utf8'), versionId };
  if (type !== 'opaque') {
    throw new Error(`the user secret ${id} needs the tag ${tags.type}: expected opaque or string`);
  }
  if (key === undefined) throw new Error(`the user secret ${id} has members: name one by k=<key>`);
  const encoding = given.get(tags.encoding) || 'json';
  const members = await decode(bytes, encoding, parseYaml).catch((error: unknown) => {
    if (error instanceof EncodingError) throw new Error(`the user secret ${id}: ${error.message}`);
    // A parser's own message may quote the secret.
    throw new Error(`the user secret ${id} is not ${encoding}, as its tag ${tags.encoding} says`);
  });
  const found = asJsonObject(members);
  const text = found !== undefined && Object.hasOwn(found, key) ? asString(found[key]) : undefined;
  if (text === undefined) throw new Error(`the user secret ${id} has no text under the key "${key}"`);
  return { text, versionId };
}

/** The roles that may use a user secret; empty where it names none. @throws Error that names the secret. */
export async function readUserSecretRoles(id: string, access: AwsAccess): Promise<readonly string[]> {
  const roles = (await readTags(id, access)).get(tags.roles) ?? '';
  return roles
    .split(',')
    .map((role) => role.trim())
    .filter((role) => role !== '');
}

/** An unknown encoding. */
class EncodingError extends Error {}

async function decode(
  bytes: Buffer,
  encoding: string,
  parseYaml: (text: string) => Promise<unknown>,
): Promise<unknown> {
  if (encoding === 'json') return JSON.parse(bytes.toString('utf8'));
  if (encoding === 'yaml') return parseYaml(bytes.toString('utf8'));
  if (encoding !== 'cbor') throw new EncodingError(`its tag ${tags.encoding} must be json, yaml or cbor`);
  const { parseCbor } = await import('./secret-cbor.ts');
  return parseCbor(bytes);
}

async function readTags(id: string, access: AwsAccess): Promise<ReadonlyMap<string, string>> {
  const client = new SecretsManagerClient({ ...clientOptions, ...access });
  try {
    const { Tags = [] } = await client.send(new DescribeSecretCommand({ SecretId: id }));
    return new Map(Tags.map(({ Key = '', Value = '' }) => [Key, Value]));
  } catch (error) {
    throw toAwsFailure(error, {
      what: `cannot read the tags of the secret ${id} in ${access.region}`,
      whenDenied: 'allow secretsmanager:DescribeSecret on it to this process',
      whenMissing: 'check its name and its region',
    });
  } finally {
    client.destroy();
  }
}
