import type { AccountForm, AccountInForm } from '#accounts/model/account-form.ts';
import { type AccountDefinition, findAccountNameProblem } from '#accounts/model/account-store.ts';
import { getErrorMessage, InvalidInputError } from '#core/errors.ts';
import { asJsonArray, asJsonObject, isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { getSetting } from '#settings/spring-config.ts';

/** The provider whose accounts these are. */
export const providerName = 'kubernetes';

/**
 * Accounts in the form of go-clouddriver's API, which calls them providers. The checks, their order and their texts are those of its
 * `internal/api/v1/provider.go`, except that permissions are checked before a token is requested.
 */
export const goClouddriverForm: AccountForm = { read: readProvider, toView: toProviderView };

/** A provider as written; null and blank members are absent. */
interface GoProvider {
  readonly name: string;
  readonly host: string;
  readonly caData: string | undefined;
  readonly bearerToken: string | undefined;
  readonly tokenProvider: string | undefined;
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly namespace: string | undefined;
  readonly namespaces: readonly string[];
}

function readProvider(body: JsonValue): AccountInForm {
  if (!isJsonObject(body)) throw new InvalidInputError('The body must be an object, the provider');
  const errors: string[] = [];
  const given = { body, errors };
  const permissions = body['permissions'] ?? {};
  const groups = { body: asJsonObject(permissions) ?? {}, errors, at: 'permissions.' };
  if (!isJsonObject(permissions))
    errors.push('permissions: expected an object with the lists read and write');
  const provider: GoProvider = {
    name: readText(given, 'name') ?? '',
    host: readText(given, 'host') ?? '',
    caData: readText(given, 'caData'),
    bearerToken: readText(given, 'bearerToken'),
    tokenProvider: readText(given, 'tokenProvider'),
    read: readList(groups, 'read'),
    write: readList(groups, 'write'),
    namespace: readText(given, 'namespace')?.trim() || undefined,
    namespaces: readList(given, 'namespaces'),
  };
  const problem = findAccountNameProblem(provider.name);
  if (problem !== undefined) errors.push(problem);
  if (errors.length > 0) throw new InvalidInputError(errors);
  return {
    name: provider.name,
    async check({ checkRights, checkCredential }) {
      const at = findBase64Problem(provider.caData ?? '');
      if (at !== undefined) {
        throw new InvalidInputError(`error decoding base64 CA data: illegal base64 data at input byte ${at}`);
      }
      const definition = toDefinition(provider);
      await checkRights(definition);
      await checkCredential(definition).catch((error: unknown) => {
        throw new InvalidInputError(`error getting token: ${getErrorMessage(error)}`);
      });
      const readable = new Set(provider.read.map((group) => group.toLowerCase()));
      const unreadable = provider.write.find((group) => !readable.has(group.toLowerCase()));
      if (unreadable !== undefined) {
        throw new InvalidInputError(
          `error in permissions: write group '${unreadable}' must be included as a read group`,
        );
      }
      if (provider.namespace !== undefined && provider.namespaces.length > 0)
        throw new InvalidInputError('Cannot provide both namespace and namespaces field');
      return definition;
    },
  };
}

/** The members being read, and where violations are collected. */
interface Reading {
  readonly body: JsonObject;
  readonly errors: string[];
  readonly at?: string;
}

function readText({ body, errors, at = '' }: Reading, name: string): string | undefined {
  const value = Object.hasOwn(body, name) ? body[name] : undefined;
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  errors.push(`${at}${name}: expected a text`);
  return undefined;
}

function readList({ body, errors, at = '' }: Reading, name: string): readonly string[] {
  const value = Object.hasOwn(body, name) ? (body[name] ?? []) : [];
  const texts = asJsonArray(value).filter((item): item is string => typeof item === 'string');
  if (Array.isArray(value) && texts.length === value.length) return texts;
  errors.push(`${at}${name}: expected a list of texts`);
  return [];
}

/**
 * The account that a provider describes. One limited to namespaces may not use cluster-scoped kinds: go-clouddriver refuses these,
 * Clouddriver does not.
 */
function toDefinition(provider: GoProvider): AccountDefinition {
  const { name, host, caData, bearerToken, tokenProvider, read, write, namespace } = provider;
  const namespaces = namespace === undefined ? provider.namespaces : [namespace];
  const permissions = {
    ...(read.length > 0 && { READ: [...read] }),
    ...(write.length > 0 && { WRITE: [...write] }),
  };
  const body: JsonObject = {
    type: providerName,
    name,
    server: {
      host,
      ...(caData && { caData }),
      ...(bearerToken && { bearerToken }),
      ...(tokenProvider && { tokenProvider }),
    },
    ...(Object.keys(permissions).length > 0 && { permissions }),
    ...(namespaces.length > 0 && { namespaces: [...namespaces], clusterScopedKinds: false }),
  };
  return { name, type: providerName, body };
}

/** Undefined for an account with a kubeconfig or `eks`: this form cannot say how it is reached. */
function toProviderView({ name, body }: AccountDefinition): JsonObject | undefined {
  const server = asJsonObject(getSetting(body, 'server'));
  if (server === undefined) return undefined;
  const pick = (option: string): JsonObject => {
    const value = getSetting(server, option);
    return typeof value === 'string' && value !== '' ? { [option]: value } : {};
  };
  const read = listGroups(body, 'READ');
  const write = listGroups(body, 'WRITE');
  const namespaces = asJsonArray(getSetting(body, 'namespaces'));
  return {
    name,
    host: '',
    ...pick('host'),
    ...pick('caData'),
    ...pick('bearerToken'),
    ...pick('tokenProvider'),
    ...((read.length > 0 || write.length > 0) && {
      permissions: { ...(read.length > 0 && { read }), ...(write.length > 0 && { write }) },
    }),
    ...(namespaces.length > 0 && { namespaces }),
  };
}

function listGroups(body: JsonObject, authorization: string): JsonValue[] {
  const permissions = asJsonObject(getSetting(body, 'permissions')) ?? {};
  return Object.entries(permissions)
    .filter(([key]) => key.toUpperCase() === authorization)
    .flatMap(([, groups]) => (typeof groups === 'string' ? groups.split(',') : asJsonArray(groups)));
}

const lineBreak = /[\r\n]/;

/** Where Go's `base64.StdEncoding` finds fault with a text; undefined where it does not. Line breaks do not count. */
function findBase64Problem(text: string): number | undefined {
  let digits = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (/[A-Za-z0-9+/]/.test(character)) digits += 1;
    else if (character === '=') return findPaddingProblem(text, { at, digits: digits % 4 });
    else if (!lineBreak.test(character)) return at;
  }
  return digits % 4 === 0 ? undefined : text.length - (digits % 4);
}

function findPaddingProblem(
  text: string,
  { at, digits }: { readonly at: number; readonly digits: number },
): number | undefined {
  if (digits < 2) return at;
  const rest = [...text.slice(at + 1)].map((character, index) => ({ character, at: at + 1 + index }));
  const [second, ...others] = rest.filter(({ character }) => !lineBreak.test(character));
  if (digits === 3) return second?.at;
  if (second === undefined) return text.length;
  return second.character === '=' ? others[0]?.at : second.at - 1;
}
