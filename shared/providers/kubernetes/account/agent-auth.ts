import type {
  AgentAuth,
  AgentKeySource,
  CertificateAuth,
  IamAuth,
  ServiceAccountAuth,
} from '#accounts/model/account.ts';
import { parseDistinguishedName } from '#core/distinguished-name.ts';
import { InvalidInputError } from '#core/errors.ts';
import { asJsonObject, isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { parseRoleArn } from '#core/role-arn.ts';
import type { AccountFields } from './account-fields.ts';

/** The most keys that an account's agents may sign with. */
export const agentKeysMax = 20;

/** The most subjects, or roles, that an account's agents may have. */
export const agentNamesMax = 20;

type AuthFields = NonNullable<AccountFields['agent']>['auth'];
type AuthField = Exclude<keyof AuthFields, 'type'>;

/** Fields of `agent.auth` by the type that has them. */
const fieldsByType: { readonly [type in AgentAuth['type']]: readonly AuthField[] } = {
  serviceAccount: ['issuer', 'subject', 'jwks', 'jwksUri'],
  certificate: ['subjects'],
  iam: ['roleArns'],
};

/**
 * How the agents of an account authenticate. `path` is the setting's path.
 *
 * @throws InvalidInputError naming the invalid field
 */
export function createAgentAuth(auth: AuthFields, path: string): AgentAuth {
  const type = findType(auth.type, path);
  // A field of another type: the type was probably left out by mistake.
  const stray = Object.entries(fieldsByType)
    .filter(([each]) => each !== type)
    .flatMap(([, names]) => names)
    .find((name) => auth[name] !== undefined);
  if (stray !== undefined) refuse(`${path}.${stray}: expected nothing with type ${type}`);
  if (type === 'certificate') return toCertificateAuth(auth, path);
  return type === 'iam' ? toIamAuth(auth, path) : toServiceAccountAuth(auth, path);
}

function findType(text: string, path: string): AgentAuth['type'] {
  const known = ['serviceAccount', 'certificate', 'iam'] as const;
  const type = known.find((each) => each === text);
  return type ?? refuse(`${path}.type: expected one of ${known.join(', ')}`);
}

function toServiceAccountAuth(
  { issuer, subject, jwks, jwksUri }: AuthFields,
  path: string,
): ServiceAccountAuth {
  return {
    type: 'serviceAccount',
    issuer: readText(issuer, `${path}.issuer`),
    subject: readText(subject, `${path}.subject`),
    keys: toKeySource({ jwks, jwksUri: jwksUri || undefined }, path),
  };
}

function readText(text: string | undefined, path: string): string {
  if (text === undefined) return refuse(`${path}: expected a value, got none`);
  return text.trim() === '' ? refuse(`${path}: expected a text, got an empty string`) : text;
}

function toCertificateAuth({ subjects }: AuthFields, path: string): CertificateAuth {
  const example = 'a distinguished name as RFC 2253 writes it, such as CN=edge-7,O=Acme';
  const isName = (text: string): boolean => parseDistinguishedName(text) !== undefined;
  return { type: 'certificate', subjects: readNames(subjects, `${path}.subjects`, { isName, example }) };
}

function toIamAuth({ roleArns }: AuthFields, path: string): IamAuth {
  const example = 'the ARN of a role of IAM, such as arn:aws:iam::111122223333:role/edge-7';
  const isName = (text: string): boolean => parseRoleArn(text) !== undefined;
  return { type: 'iam', roleArns: readNames(roleArns, `${path}.roleArns`, { isName, example }) };
}

function readNames(
  names: readonly string[] | undefined,
  path: string,
  { isName, example }: { readonly isName: (text: string) => boolean; readonly example: string },
): readonly string[] {
  if (names === undefined || names.length === 0 || names.length > agentNamesMax)
    return refuse(`${path}: expected a list of 1 to ${agentNamesMax}`);
  const wrong = names.findIndex((name) => !isName(name));
  return wrong < 0 ? names : refuse(`${path}[${wrong}]: expected ${example}`);
}

function toKeySource(
  { jwks, jwksUri }: { jwks: JsonValue | undefined; jwksUri: string | undefined },
  path: string,
): AgentKeySource {
  if ((jwks === undefined) === (jwksUri === undefined)) {
    return refuse(`${path}: expected one of jwks and jwksUri, by which tokens are verified`);
  }
  return jwksUri === undefined
    ? { keys: readKeys(jwks, `${path}.jwks`) }
    : { url: readUrl(jwksUri, `${path}.jwksUri`) };
}

function readUrl(text: string, path: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.protocol === 'https:' && url.username === '' && url.password === '';
  return isPlain ? url : refuse(`${path}: expected a URL that begins with https:// and names no user`);
}

/** A set of keys as a cluster's `/openid/v1/jwks` returns it, or its text. */
function readKeys(given: JsonValue | undefined, path: string): readonly JsonObject[] {
  const set = asJsonObject(typeof given === 'string' ? parseText(given, path) : given);
  const keys = set?.['keys'];
  if (!Array.isArray(keys) || keys.length === 0 || !keys.every(isJsonObject)) {
    return refuse(
      `${path}: expected an object with a list of public keys in 'keys', as kubectl get --raw /openid/v1/jwks prints it`,
    );
  }
  if (keys.length > agentKeysMax) refuse(`${path}: expected ${agentKeysMax} keys at most`);
  if (keys.some((key) => 'd' in key || 'k' in key)) refuse(`${path}: expected public keys, got a secret one`);
  return keys;
}

function parseText(text: string, path: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return refuse(`${path}: expected an object, or the JSON text of one`);
  }
}

/** Refuses an account. @throws InvalidInputError with this sentence */
export function refuse(sentence: string): never {
  throw new InvalidInputError(sentence);
}
