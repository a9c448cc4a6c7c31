import type { Clock, Randomness } from '#core/clock.ts';
import { asJsonObject, asString } from '#core/json.ts';
import { RefreshedSecrets } from '#settings/refreshed-secrets.ts';
import { describeSecret, type SecretReader, type SecretReference } from '#settings/secret-reference.ts';
import type { Aws, AwsAccess } from '../../ports/aws.ts';
import type { LookupStore } from '../../ports/lookup.ts';
import type { LoadedSecret } from './secret-value.ts';
import type { SigningOptions } from './signed-call.ts';

/** What reads secrets. */
export interface SecretReaderOptions extends SigningOptions {
  readonly aws: Pick<Aws, 'credentials' | 'getRegion'>;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly randomness: Pick<Randomness, 'fraction'>;
  /** Where processes share which versions secrets have. Left out, each reads them for itself. */
  readonly store?: LookupStore | undefined;
  /** Whether the settings may hold secrets themselves, by the engine `noop`: only on a user's own machine. */
  readonly placement: 'local' | 'deployed';
  /** Reads YAML. @throws for another text; its message may quote the text, and is not shown */
  readonly parseYaml: (text: string) => Promise<unknown>;
}

/** Secrets of Secrets Manager, S3 and Parameter Store, by this process' identity. The first of its kind loads the kind's reader. */
export function createSecretReader(options: SecretReaderOptions): SecretReader {
  const load = (reference: SecretReference) => loadSecret(reference, options);
  const followed = new RefreshedSecrets({ ...options, load });
  return {
    read: async (reference) => (await load(reference)).text,
    follow: (reference, known) => followed.follow(reference, known),
    async readRoles(reference) {
      if (reference.isUserSecret !== true) return undefined;
      const { readUserSecretRoles } = await import('./user-secret.ts');
      return readUserSecretRoles(reference.id, await openAccess(reference, options));
    },
  };
}

async function loadSecret(reference: SecretReference, options: SecretReaderOptions): Promise<LoadedSecret> {
  const { engine, id } = reference;
  if (engine === 'noop') return loadValue(reference, options);
  const access = await openAccess(reference, options);
  if (engine === 's3') {
    const { loadObject } = await import('./signed-secrets.ts');
    return pickPath(await loadObject(id, access, options), reference, options);
  }
  if (engine === 'ssm') {
    const { loadParameter } = await import('./signed-secrets.ts');
    return loadParameter(id, access, options);
  }
  if (reference.isUserSecret === true) {
    const { loadUserSecret } = await import('./user-secret.ts');
    return loadUserSecret(reference, access, options.parseYaml);
  }
  const { getSecretValue } = await import('./secret-value.ts');
  const { bytes, versionId } = await getSecretValue(id, access);
  const text = bytes.toString('utf8');
  return { text: reference.key === undefined ? text : readMember(text, reference), versionId };
}

async function openAccess({ region }: SecretReference, { aws }: SecretReaderOptions): Promise<AwsAccess> {
  return { region: await aws.getRegion({ region }), credentials: await aws.credentials({ region })() };
}

/** @throws Error when deployed: everyone who reads the settings sees such a secret. */
function loadValue({ value = '' }: SecretReference, { placement }: SecretReaderOptions): LoadedSecret {
  if (placement === 'local') return { text: value, versionId: undefined };
  throw new Error(
    'the secret engine noop is for one machine: put the secret into Secrets Manager, S3 or Parameter Store',
  );
}

/** One member of a secret that is a JSON object. The parser's own message would quote the secret. */
function readMember(text: string, reference: SecretReference): string {
  const { key = '' } = reference;
  const what = `the ${describeSecret(reference)}`;
  let members: unknown;
  try {
    members = JSON.parse(text);
  } catch {
    throw new Error(`${what} is no JSON: expected an object with the key "${key}"`);
  }
  const member = asString(asJsonObject(members)?.[key]);
  if (member === undefined) throw new Error(`${what} has no text under the key "${key}"`);
  return member;
}

/** The value at a dotted path of a secret that is YAML; all of it without a path. */
async function pickPath(
  { text, versionId }: LoadedSecret,
  reference: SecretReference,
  { parseYaml }: SecretReaderOptions,
): Promise<LoadedSecret> {
  const { key } = reference;
  if (key === undefined) return { text, versionId };
  const what = `the ${describeSecret(reference)}`;
  let found: unknown = await parseYaml(text).catch(() => {
    throw new Error(`${what} is no YAML: expected a value at "${key}"`);
  });
  for (const step of key.split('.')) {
    const members = asJsonObject(found);
    found = members !== undefined && Object.hasOwn(members, step) ? members[step] : undefined;
  }
  if (typeof found === 'string' || typeof found === 'number' || typeof found === 'boolean') {
    return { text: String(found), versionId };
  }
  throw new Error(`${what} has no text at "${key}"`);
}
