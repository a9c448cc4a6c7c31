import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RejectedAccount } from '#accounts/model/account.ts';
import { mapConcurrently } from '#core/concurrency.ts';
import { getErrorMessage, InvalidInputError } from '#core/errors.ts';
import { asJsonArray, asJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import {
  booleanField,
  parseWith,
  requireField,
  settingsField,
  stringField,
  stringListField,
} from '../coerce.ts';
import { findMember, toCanonicalKey } from '../spring-config.ts';

/** A file of go-clouddriver's directory of artifact credentials, as it was read: its text, or why there is none. */
export interface CredentialFile {
  readonly file: string;
  readonly text?: string;
  readonly problem?: string;
}

interface MergedCredentials {
  readonly settings: JsonObject;
  /** Files that are left out, and why. */
  readonly rejectedAccounts: readonly RejectedAccount[];
}

/** Largest file, in bytes: an account takes some hundred. */
export const credentialFileBytesMax = 65_536;

/** Maximum number of files read in a directory, the first by their names. */
export const credentialFilesMax = 1_000;

const readersMax = 16;

/**
 * Reads the files of a directory, in the order of their names. It follows links, but does not read subdirectories: a ConfigMap keeps its
 * versions in some. Never rejects: an unreadable directory counts as an unreadable file.
 */
export async function readCredentialFiles(directory: string): Promise<readonly CredentialFile[]> {
  try {
    const names = (await readdir(directory)).toSorted();
    const paths = names.slice(0, credentialFilesMax).map((name) => join(directory, name));
    const files = await mapConcurrently(paths, readersMax, readCredentialFile);
    const left = names.length - credentialFilesMax;
    const problem = `${left} more files are left out: expected ${credentialFilesMax} at most`;
    return [...files.flat(), ...(left > 0 ? [{ file: directory, problem }] : [])];
  } catch (error) {
    return [{ file: directory, problem: `cannot be read: ${getErrorMessage(error)}` }];
  }
}

async function readCredentialFile(file: string): Promise<CredentialFile[]> {
  try {
    const found = await stat(file);
    if (found.isDirectory()) return [];
    if (!found.isFile()) return [{ file, problem: 'expected a file' }];
    if (found.size > credentialFileBytesMax) {
      return [{ file, problem: `expected ${credentialFileBytesMax} bytes at most` }];
    }
    return [{ file, text: await readFile(file, 'utf8') }];
  } catch (error) {
    return [{ file, problem: `cannot be read: ${getErrorMessage(error)}` }];
  }
}

/**
 * The settings with the accounts of the files after their own. A kind that the settings do not switch on has only the accounts of the
 * files. A file without a valid account is left out, and nothing else is.
 */
export function mergeCredentialFiles(
  settings: JsonObject,
  files: readonly CredentialFile[],
): MergedCredentials {
  const rejectedAccounts: RejectedAccount[] = [];
  const accountsByKind = new Map<string, JsonObject[]>();
  for (const each of files) {
    try {
      for (const [kind, account] of toAccounts(each)) {
        accountsByKind.set(kind, [...(accountsByKind.get(kind) ?? []), account]);
      }
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      rejectedAccounts.push({ name: each.file, reason: error.message });
    }
  }
  let artifacts = asJsonObject(findMember(settings, 'artifacts')) ?? {};
  for (const [kind, accounts] of accountsByKind) artifacts = addAccounts(artifacts, kind, accounts);
  if (accountsByKind.size === 0) return { settings, rejectedAccounts };
  return { settings: replaceMember(settings, 'artifacts', artifacts), rejectedAccounts };
}

function addAccounts(artifacts: JsonObject, kind: string, accounts: readonly JsonObject[]): JsonObject {
  const section = asJsonObject(findMember(artifacts, kind)) ?? {};
  const isOn = String(findMember(section, 'enabled')).trim().toLowerCase() === 'true';
  const configured = isOn ? asJsonArray(findMember(section, 'accounts')) : [];
  const enabled = replaceMember(section, 'enabled', true);
  return replaceMember(artifacts, kind, replaceMember(enabled, 'accounts', [...configured, ...accounts]));
}

/** The object with another value of a member, in any spelling of its key. */
function replaceMember(object: JsonObject, key: string, value: JsonValue): JsonObject {
  const wanted = toCanonicalKey(key);
  const others = Object.entries(object).filter(([name]) => toCanonicalKey(name) !== wanted);
  return Object.fromEntries([...others, [key, value]]);
}

/** The fields of go-clouddriver's files. */
const fileField = requireField(
  settingsField({
    name: requireField(stringField()),
    types: requireField(stringListField()),
    repository: stringField(),
    username: stringField(),
    password: stringField(),
    baseURL: stringField(),
    token: stringField(),
    enterprise: booleanField(),
    jsonPath: stringField(),
  }),
);

type FileFields = ReturnType<typeof parseFields>;

/** How to make accounts, by the type in the file. */
const kinds = new Map<string, { readonly kind: string; toOptions(fields: FileFields): JsonObject }>([
  ['helm/chart', { kind: 'helm', toOptions: toHelmOptions }],
  ['helm/index', { kind: 'helm', toOptions: toHelmOptions }],
  ['github/file', { kind: 'github', toOptions: toGitHubOptions }],
  ['git/repo', { kind: 'gitRepo', toOptions: ({ token }) => keepTexts({ token }) }],
  ['gcs/object', { kind: 'gcs', toOptions: ({ jsonPath }) => keepTexts({ jsonPath }) }],
  ['http/file', { kind: 'http', toOptions: () => ({}) }],
]);

/** The accounts of a file, by kind: one for each kind of its types. @throws InvalidInputError naming the file; it never quotes it. */
function toAccounts(read: CredentialFile): ReadonlyMap<string, JsonObject> {
  const { file } = read;
  const fields = parseFields(read);
  const { name, types } = fields;
  if (name.trim() === '') throw new InvalidInputError(`${file}: name: expected a value`);
  const found = types.flatMap((type) => kinds.get(type) ?? []);
  if (found.length > 0) {
    return new Map(found.map(({ kind, toOptions }) => [kind, { name: name.trim(), ...toOptions(fields) }]));
  }
  const expected = [...kinds.keys()].join(', ');
  throw new InvalidInputError(
    `${file}: types: expected one of ${expected}; accounts of other types are built in, or not served`,
  );
}

function parseFields({ file, text, problem }: CredentialFile) {
  if (text === undefined) throw new InvalidInputError(`${file}: ${problem ?? 'cannot be read'}`);
  return { ...parseWith(fileField, parseText(text, file), file), file };
}

/** The parser's own message would quote the file. */
function parseText(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidInputError(`${file}: expected JSON`);
  }
}

function toHelmOptions({ file, repository, username, password }: FileFields): JsonObject {
  if (!repository)
    throw new InvalidInputError(`${file}: repository: expected the URL of a repository of charts`);
  // They are only used together there.
  return keepTexts({ repository, ...(username && password && { username, password }) });
}

/** The credentials of an Enterprise Server are sent to its address only. */
function toGitHubOptions({ file, token, baseURL, enterprise }: FileFields): JsonObject {
  if (!enterprise) return keepTexts({ token });
  const url = URL.parse(baseURL ?? '');
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new InvalidInputError(`${file}: baseURL: expected the URL of a GitHub Enterprise Server`);
  }
  return { ...keepTexts({ token }), credentialOrigins: [url.origin] };
}

/** Members with a text. */
function keepTexts(members: { readonly [key: string]: string | undefined }): JsonObject {
  const present = Object.entries(members).filter(([, value]) => value);
  return Object.fromEntries(present) as JsonObject;
}
