import type { Cluster, User } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { asJsonArray, asJsonObject, asString, isJsonObject, type JsonObject } from '#core/json.ts';
import { kubeconfigBytesMax, kubeconfigMarksMax } from '../api/answer-limits.ts';
import { findJson } from '../api/find-json.ts';

/** What makes up the structure of a YAML text. Base64, the bulk of a kubeconfig, contains none of it. */
const yamlMarks: ReadonlySet<string> = new Set('\n"\'[]{}&*:-?,');
/** The most contexts that an error names. */
const namesShown = 50;

/** What is left out, or empty, may be undefined. */
type Entry<T> = { readonly [M in keyof T]: object extends Pick<T, M> ? T[M] | undefined : T[M] };

/** A cluster entry, by the names of `@kubernetes/client-node`; `caData`, PEM in base64, wins over `caFile`. */
export type KubeconfigCluster = Entry<Omit<Cluster, 'name'>>;

/** A program that prints an ExecCredential. */
export interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly installHint: string | undefined;
  readonly provideClusterInfo: boolean;
  /** `Never`, `IfAvailable` or `Always`. */
  readonly interactiveMode: string;
}

/** An auth provider, which `@kubernetes/client-node` may know. Holds secrets. */
export interface AuthProvider {
  readonly name: string;
  readonly config: JsonObject;
}

/** A user entry: how to authenticate. `certData` and `keyData`, PEM in base64, win over files. */
export interface KubeconfigUser
  extends Entry<Omit<User, 'name' | 'exec' | 'authProvider' | 'impersonateUser'>> {
  readonly tokenFile: string | undefined;
  readonly exec: ExecPlugin | undefined;
  readonly authProvider: AuthProvider | undefined;
  /** Headers for impersonation (`as`, `as-uid`, `as-groups`, `as-user-extra`). */
  readonly impersonation: Readonly<Record<string, string | string[]>>;
}

/** One context of a kubeconfig with the entries that it refers to. */
export interface KubeconfigContext {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly cluster: KubeconfigCluster;
  readonly user: KubeconfigUser;
}

/** Which entries of a kubeconfig to use. For omitted or empty ones the kubeconfig decides. */
export interface KubeconfigChoice {
  /** Left out, `current-context`. */
  readonly context?: string | undefined;
  /** Left out, that of the context. */
  readonly cluster?: string | undefined;
  /** Left out, that of the context. */
  readonly user?: string | undefined;
}

/** An account names a context, a cluster or a user that its kubeconfig does not have. The message lists the existing ones. */
export class KubeconfigChoiceError extends Error {
  override name = 'KubeconfigChoiceError';
  readonly member: keyof KubeconfigChoice;

  constructor(member: keyof KubeconfigChoice, name: string, known: readonly string[]) {
    super(`${member} "${name}" does not exist (${describeKnown(known)})`);
    this.member = member;
  }
}

/**
 * Reads one context of a kubeconfig (YAML or JSON).
 *
 * @param choice by Clouddriver's rule, a named cluster and user replace the context's.
 * @throws KubeconfigChoiceError for a missing choice; Error whose message says what else is wrong or missing, never with the value of a
 *   credential.
 */
export function parseKubeconfigContext(text: string, choice: KubeconfigChoice = {}): KubeconfigContext {
  const root = parseYaml(text);
  const contexts = readEntries(root, 'contexts', 'context');
  const name = choice.context || asString(root['current-context']) || '';
  const context = contexts.get(name);
  if (context === undefined) throw createContextError(name, [...contexts.keys()]);
  const read = (member: 'cluster' | 'user') => {
    const entries = readEntries(root, `${member}s`, member);
    const entryName = choice[member] || (asString(context[member]) ?? '');
    const entry = entryName === '' && member === 'user' ? {} : entries.get(entryName);
    if (entry !== undefined) return { entry, entryName };
    if (choice[member]) throw new KubeconfigChoiceError(member, entryName, [...entries.keys()]);
    throw new Error(`context "${name}" names the ${member} "${entryName}", which is missing`);
  };
  const cluster = read('cluster');
  const user = read('user');
  return {
    name,
    namespace: asString(context['namespace']),
    cluster: readCluster(cluster.entry, cluster.entryName),
    user: readUser(user.entry, user.entryName),
  };
}

function parseYaml(text: string): JsonObject {
  if (text.length > kubeconfigBytesMax) throw new Error(`it is larger than ${kubeconfigBytesMax} bytes`);
  // JSON is YAML, and has a faster parser.
  let root: unknown = text.startsWith('{') ? findJson(text) : undefined;
  if (root === undefined) checkMarks(text);
  try {
    root ??= parse(text, { logLevel: 'error' });
  } catch (error) {
    // The parser's message quotes the failing line, which may hold a credential: only its position is reported.
    const line = /at line (\d+)/.exec(String(error))?.[1];
    throw new Error(`it is not valid YAML${line === undefined ? '' : ` (line ${line})`}`);
  }
  if (!isJsonObject(root)) throw new Error('it is empty or no YAML mapping');
  return root;
}

/** How many characters of a kubeconfig make up its structure: a YAML parser takes some 10 µs for each. */
export function countYamlMarks(text: string): number {
  let marks = 0;
  for (const character of text) if (yamlMarks.has(character)) marks += 1;
  return marks;
}

/** The parser's time grows with the square of some of these. @throws Error for a text with too many */
function checkMarks(text: string): void {
  if (countYamlMarks(text) <= kubeconfigMarksMax) return;
  throw new Error(`it has more than ${kubeconfigMarksMax} lines and characters with a meaning in YAML`);
}

function createContextError(name: string, known: readonly string[]): Error {
  if (name !== '') return new KubeconfigChoiceError('context', name, known);
  return new Error(
    `no context is chosen: set the account's context or current-context (${describeKnown(known)})`,
  );
}

function describeKnown(known: readonly string[]): string {
  return known.length === 0 ? 'it has none' : `it has ${joinNames(known)}`;
}

function joinNames(names: readonly string[]): string {
  const shown = names.slice(0, namesShown).map((name) => `"${name}"`);
  if (names.length > shown.length) shown.push(`${names.length - shown.length} more`);
  return shown.join(', ');
}

/** The named entries of a list such as `users`, by name; the first of two equal names counts, as in kubectl. */
function readEntries(root: JsonObject, list: string, member: string): Map<string, JsonObject> {
  const entries = new Map<string, JsonObject>();
  for (const entry of asJsonArray(root[list])) {
    const name = asString(asJsonObject(entry)?.['name']);
    if (name === undefined || entries.has(name)) continue;
    entries.set(name, asJsonObject(asJsonObject(entry)?.[member]) ?? {});
  }
  return entries;
}

function readCluster(cluster: JsonObject, name: string): KubeconfigCluster {
  const server = asString(cluster['server']);
  if (!server) throw new Error(`cluster "${name}" has no server`);
  return {
    server,
    caData: readString(cluster, 'certificate-authority-data'),
    caFile: readString(cluster, 'certificate-authority'),
    skipTLSVerify: cluster['insecure-skip-tls-verify'] === true,
    tlsServerName: readString(cluster, 'tls-server-name'),
    proxyUrl: readString(cluster, 'proxy-url'),
  };
}

function readUser(user: JsonObject, name: string): KubeconfigUser {
  const authProvider = asJsonObject(user['auth-provider']);
  return {
    token: readString(user, 'token'),
    tokenFile: readString(user, 'tokenFile'),
    username: readString(user, 'username'),
    password: readString(user, 'password'),
    certData: readString(user, 'client-certificate-data'),
    certFile: readString(user, 'client-certificate'),
    keyData: readString(user, 'client-key-data'),
    keyFile: readString(user, 'client-key'),
    exec: readExecPlugin(asJsonObject(user['exec']), name),
    authProvider: authProvider && {
      name: asString(authProvider['name']) ?? '',
      config: asJsonObject(authProvider['config']) ?? {},
    },
    impersonation: readImpersonation(user),
  };
}

function readExecPlugin(exec: JsonObject | undefined, user: string): ExecPlugin | undefined {
  if (exec === undefined) return undefined;
  const command = asString(exec['command']);
  if (!command) throw new Error(`user "${user}" has an exec plugin without a command`);
  return {
    apiVersion: asString(exec['apiVersion']) ?? '',
    command,
    args: asJsonArray(exec['args']).map(String),
    env: readEnvironment(exec['env']),
    installHint: readString(exec, 'installHint'),
    provideClusterInfo: exec['provideClusterInfo'] === true,
    interactiveMode: asString(exec['interactiveMode']) ?? 'IfAvailable',
  };
}

function readEnvironment(list: unknown): Record<string, string> {
  const environment = new Map<string, string>();
  for (const variable of asJsonArray(list).map(asJsonObject)) {
    const name = asString(variable?.['name']);
    if (name !== undefined) environment.set(name, String(variable?.['value'] ?? ''));
  }
  return Object.fromEntries(environment);
}

function readImpersonation(user: JsonObject): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  const as = readString(user, 'as');
  const uid = readString(user, 'as-uid');
  const groups = asJsonArray(user['as-groups']).map(String);
  if (as !== undefined) headers['impersonate-user'] = as;
  if (uid !== undefined) headers['impersonate-uid'] = uid;
  if (groups.length > 0) headers['impersonate-group'] = groups;
  for (const [key, values] of Object.entries(asJsonObject(user['as-user-extra']) ?? {})) {
    headers[`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`] = asJsonArray(values).map(String);
  }
  return headers;
}

/** A string that is neither absent nor empty. */
function readString(object: JsonObject, key: string): string | undefined {
  return asString(object[key]) || undefined;
}
