import { homedir } from 'node:os';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { asJsonArray, asJsonObject, asString, type JsonObject } from '#core/json.ts';
import { CliError } from '../cli-error.ts';
import { readSmallFile } from '../small-file.ts';
import { toLine } from '../terminal.ts';

/** Which entries of a kubeconfig are wanted. */
export interface KubeconfigChoice {
  /** Default: the kubeconfig's current context. */
  readonly context?: string | undefined;
  /** In the place of the context's. */
  readonly cluster?: string | undefined;
  /** In the place of the context's. */
  readonly user?: string | undefined;
}

/** Members that name a file, by the members that hold what is in it. */
const fileMembers: { readonly [member: string]: string } = {
  'certificate-authority': 'certificate-authority-data',
  'client-certificate': 'client-certificate-data',
  'client-key': 'client-key-data',
};

/**
 * A kubeconfig with what one context needs and nothing else, certificates and keys within it: as `kubectl config view --minify --flatten
 * --raw` prints it. So nothing of other clusters is sent anywhere.
 *
 * @param file `~` at its beginning is the home directory
 * @returns YAML
 * @throws CliError naming the file, and what is wrong with it
 */
export async function readKubeconfig(file: string, choice: KubeconfigChoice = {}): Promise<string> {
  const full = path.resolve(file.replace(/^~(?=$|\/)/, homedir()));
  const kubeconfig = parseKubeconfig((await readSmallFile(full)).toString('utf8'), full);
  const currentName = choice.context ?? asString(kubeconfig['current-context']) ?? '';
  const contexts = findEntry(kubeconfig, { list: 'contexts', member: 'context', name: currentName, file });
  const context = asJsonObject(contexts['context']) ?? {};
  const find = (list: string, member: string, name: string | undefined) =>
    findEntry(kubeconfig, { list, member, name: name ?? asString(context[member]) ?? '', file });
  const cluster = find('clusters', 'cluster', choice.cluster);
  const user = find('users', 'user', choice.user);
  const folder = path.dirname(full);
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': currentName,
    contexts: [{ name: currentName, context: { ...context, cluster: cluster['name'], user: user['name'] } }],
    clusters: [{ ...cluster, cluster: await inlineFiles(asJsonObject(cluster['cluster']), folder) }],
    users: [{ ...user, user: await inlineFiles(asJsonObject(user['user']), folder) }],
  });
}

function parseKubeconfig(text: string, file: string): JsonObject {
  const next = 'give a kubeconfig, such as ~/.kube/config';
  let kubeconfig: unknown;
  try {
    kubeconfig = parse(text, { prettyErrors: false, logLevel: 'error' });
  } catch {
    // The parser's message would quote the file, which holds credentials.
    throw new CliError(`${file} is no YAML`, { next });
  }
  const found = asJsonObject(kubeconfig);
  if (found !== undefined && Array.isArray(found['contexts'])) return found;
  throw new CliError(`${file} is no kubeconfig: it has no contexts`, { next });
}

interface EntryChoice {
  readonly list: string;
  readonly member: string;
  readonly name: string;
  readonly file: string;
}

function findEntry(kubeconfig: JsonObject, { list, member, name, file }: EntryChoice): JsonObject {
  const entries = asJsonArray(kubeconfig[list]).map((entry) => asJsonObject(entry) ?? {});
  const entry = entries.find((each) => each['name'] === name);
  if (entry !== undefined) return entry;
  const names = entries.map((each) => toLine(String(each['name'])));
  const shown = names.length > 20 ? [...names.slice(0, 20), `${names.length - 20} more`] : names;
  const problem =
    name === ''
      ? `${file} does not say which ${member} is meant`
      : `${file} has no ${member} "${toLine(name)}"`;
  const next = `choose one of: ${shown.join(', ')}`;
  throw new CliError(problem, { next: shown.length > 0 ? next : undefined });
}

async function inlineFiles(members: JsonObject = {}, folder: string): Promise<JsonObject> {
  const inlined = await Promise.all(
    Object.entries(members).map(async ([member, value]): Promise<JsonObject> => {
      const target = Object.hasOwn(fileMembers, member) ? fileMembers[member] : undefined;
      if (target === undefined || typeof value !== 'string') return { [member]: value };
      // Where both are there kubectl takes the data.
      if (members[target] !== undefined) return {};
      return { [target]: (await readSmallFile(path.resolve(folder, value))).toString('base64') };
    }),
  );
  return Object.assign({}, ...inlined);
}
