import { InvalidInputError } from '#core/errors.ts';
import { asJsonObject, isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import {
  type Field,
  jsonField,
  nameListField,
  parseAt,
  requireField,
  settingsField,
  stringField,
  stringListField,
} from '#settings/coerce.ts';
import { bindKeys, getSetting } from '#settings/spring-config.ts';
import { parseSubjectName, type SubjectName } from './subject-name.ts';

/** The section of the configuration that says how callers are identified. */
export const settingsPath = 'busdriver.identity';

/** Ways to identify callers. */
export const identityKinds = ['header', 'signed', 'mtls'] as const;

/** Accepted signature algorithms: only those of private keys, never `none`, and never one where verifiers can sign. */
export const signatureAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

/** Keys in a set at most. */
export const keysMax = 100;

/** Subjects that may be trusted at most. */
export const trustedSubjectsMax = 100;

/** A public key, as RFC 7517 writes it. */
export type PublicKey = JsonObject;

/** The source of the keys that verify signatures. */
export type KeySource =
  | { readonly url: URL; readonly keys?: undefined }
  | { readonly url?: undefined; readonly keys: readonly PublicKey[] };

/** How callers are identified by a signed token. */
export interface SignedIdentitySettings {
  readonly kind: 'signed';
  readonly source: KeySource;
  /** The required `iss`. */
  readonly issuer: string;
  /** `aud` must contain one of them. */
  readonly audience: readonly string[];
  readonly algorithms: readonly string[];
}

/** How callers are identified by their certificate. */
export interface MtlsIdentitySettings {
  readonly kind: 'mtls';
  /** Subjects that may speak for the user that they name. */
  readonly trustedSubjects: readonly SubjectName[];
}

/** How callers are identified. */
export type IdentitySettings = { readonly kind: 'header' } | SignedIdentitySettings | MtlsIdentitySettings;

/** Members of `busdriver.identity` by mode. */
const members = {
  header: [],
  signed: ['jwksUrl', 'jwks', 'issuer', 'audience', 'algorithms'],
  mtls: ['trustedSubjects'],
} as const;

const memberNames = ['mode', ...Object.values(members).flat()];

/**
 * Reads `busdriver.identity`: a mode (`header`, `signed` or `mtls`), or an object with it as `mode` and its options. It guesses and ignores
 * nothing: a misspelt option could ask callers for less proof than was meant.
 *
 * @returns `header` where there is no such setting.
 * @throws InvalidInputError naming each unusable setting, and what was expected.
 */
export function parseIdentitySettings(settings: JsonObject): IdentitySettings {
  const given = getSetting(settings, settingsPath) ?? 'header';
  const options = isJsonObject(given) ? bindKeys(given, memberNames) : { mode: given };
  const { mode } = parseAt(modeSchema, options, settingsPath);
  checkMembers(options, mode);
  if (mode === 'signed') return parseSigned(options);
  return mode === 'mtls' ? parseMtls(options) : { kind: mode };
}

type Mode = (typeof identityKinds)[number];

const modeSchema = requireField(settingsField({ mode: requireField(stringField()).transform(toMode) }));

function toMode(text: string, context: { issues: unknown[] }): Mode {
  const found = identityKinds.find((kind) => kind === text.toLowerCase());
  if (found === undefined)
    context.issues.push({
      code: 'custom',
      message: `expected one of ${identityKinds.join(', ')}`,
      input: text,
    });
  return found ?? 'signed';
}

function checkMembers(options: JsonObject, mode: Mode): void {
  const known: readonly string[] = ['mode', ...members[mode]];
  const unknown = Object.keys(options).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const expected = known.join(', ');
  throw new InvalidInputError(
    unknown.map((name) => `${settingsPath}.${name}: unknown with mode ${mode}, which has: ${expected}`),
  );
}

const signedSchema = requireField(
  settingsField({
    jwksUrl: stringField(),
    jwks: jsonField(),
    issuer: requireName('the issuer of the tokens (iss)'),
    audience: requireNames('the audience of the tokens (aud)'),
    algorithms: nameListField(),
  }),
);

/** A required name: a blank one means that its variable was not set. */
function requireName(what: string): Field<string> {
  return requireField(stringField()).refine((text) => text.trim() !== '', { error: `expected ${what}` });
}

function requireNames(what: string): Field<readonly string[]> {
  return requireField(nameListField()).refine((names) => names.length > 0, { error: `expected ${what}` });
}

function parseSigned(options: JsonObject): SignedIdentitySettings {
  const { jwksUrl, jwks, issuer, audience, algorithms } = parseAt(signedSchema, options, settingsPath);
  return {
    kind: 'signed',
    source: parseSource(jwksUrl, jwks),
    issuer,
    audience,
    algorithms: parseAlgorithms(algorithms),
  };
}

function parseAlgorithms(names: readonly string[] | undefined): readonly string[] {
  const wrong = names?.some((name) => !signatureAlgorithms.some((known) => known === name));
  if (wrong || names?.length === 0) {
    throw new InvalidInputError(
      `${settingsPath}.algorithms: expected some of ${signatureAlgorithms.join(', ')}`,
    );
  }
  return names ?? signatureAlgorithms;
}

function parseSource(jwksUrl: string | undefined, jwks: JsonValue | undefined): KeySource {
  if ((jwksUrl === undefined) === (jwks === undefined))
    throw new InvalidInputError(`${settingsPath}: expected either jwksUrl or jwks`);
  return jwksUrl === undefined ? { keys: parseKeys(jwks) } : { url: parseUrl(jwksUrl) };
}

function parseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url !== null && isSafe(url)) return url;
  throw new InvalidInputError(
    `${settingsPath}.jwksUrl: expected an https URL without user and fragment, or one of http on this machine`,
  );
}

/** Without TLS a server could be anybody, except on this machine. */
function isSafe({ protocol, hostname, username, password, hash }: URL): boolean {
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
  const isProtected = protocol === 'https:' || (protocol === 'http:' && isLoopback);
  return isProtected && username + password + hash === '';
}

function parseKeys(jwks: JsonValue | undefined): readonly PublicKey[] {
  const path = `${settingsPath}.jwks`;
  const set = typeof jwks === 'string' ? parseJson(jwks, path) : jwks;
  return readKeys(set, path);
}

function parseJson(text: string, path: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw new InvalidInputError(`${path}: expected a set of keys (RFC 7517), got a string that is no JSON`);
  }
}

/**
 * The keys of a set (`{"keys": […]}`, RFC 7517).
 *
 * @param path prefix of the messages.
 * @throws InvalidInputError when it is no set, holds no key or more than `keysMax`, or one that is not public: a private key here is no
 *   secret any more. It quotes no key.
 */
export function readKeys(set: JsonValue | undefined, path: string): readonly PublicKey[] {
  const list = asJsonObject(set)?.keys;
  if (!Array.isArray(list) || list.length === 0 || list.length > keysMax)
    throw new InvalidInputError(`${path}: expected a set of 1 to ${keysMax} keys (RFC 7517)`);
  return list.map((item, index) => {
    const key = asJsonObject(item);
    if (key !== undefined && isPublic(key)) return key;
    throw new InvalidInputError(
      `${path}.keys[${index}]: expected a public key of kty RSA, EC or OKP, without its private part`,
    );
  });
}

function isPublic(key: JsonObject): boolean {
  return (
    ['RSA', 'EC', 'OKP'].includes(String(key.kty)) && !Object.hasOwn(key, 'd') && !Object.hasOwn(key, 'k')
  );
}

const mtlsSchema = requireField(settingsField({ trustedSubjects: stringListField() }));

function parseMtls(options: JsonObject): MtlsIdentitySettings {
  const { trustedSubjects = [] } = parseAt(mtlsSchema, options, settingsPath);
  const path = `${settingsPath}.trustedSubjects`;
  if (trustedSubjects.length > trustedSubjectsMax)
    throw new InvalidInputError(`${path}: expected at most ${trustedSubjectsMax}`);
  return {
    kind: 'mtls',
    trustedSubjects: trustedSubjects.map((text, index) => {
      const subject = parseSubjectName(text);
      if (subject !== undefined) return subject;
      throw new InvalidInputError(`${path}[${index}]: expected a distinguished name, as CN=gate,O=Example`);
    }),
  };
}
