import { readdir, readFile, stat } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { getErrorMessage, InvalidInputError } from '../core/errors.ts';
import { asJsonArray, asJsonObject, asString, type JsonObject } from '../core/json.ts';
import {
  bindDocuments,
  expandKeys,
  getSetting,
  isActiveDocument,
  toCanonicalPath,
} from '../core/spring-config.ts';
import type { Environment } from './config.ts';
import { getFileRank, listFileNames, unwrapDocument } from './settings-shapes.ts';
import { getParentPath, parseSettingsDocuments, type SettingsDocument } from './settings-yaml.ts';

/** Where the settings come from. */
export interface LoadSettingsOptions {
  /** YAML files, or directories that hold `spinnaker.yml`, `clouddriver.yml` and their profiles' files; later wins. */
  readonly files: readonly string[];
  /** Spring profiles that are active. */
  readonly profiles: readonly string[];
  /** Environment variables, for placeholders. */
  readonly environment: Environment;
  /** A kubeconfig, or several joined as in `KUBECONFIG`. Its contexts are the accounts, but only without `files`. */
  readonly kubeconfig?: string | undefined;
}

/** Settings, and where they were written. */
export interface LoadedSettings {
  /** The merged configuration, in the spelling of its files, placeholders filled in. */
  readonly settings: JsonObject;
  /** `file:line` of a setting by its dotted path, or of what it stands in; undefined for what no file says. */
  locate(path: string): string | undefined;
}

/**
 * Loads Spinnaker's own configuration, from Halyard, the Operator, Kustomize or written by hand; see `unwrapDocument`
 * for the forms that are understood. Without any file, each context of the kubeconfig is an account.
 *
 * @throws InvalidInputError naming file, line, setting and what was expected: for files that cannot be read or hold
 *   no settings, and when Fiat is enabled, for nobody would be asked for authorization.
 */
export async function loadSettings(options: LoadSettingsOptions): Promise<LoadedSettings> {
  const { files, profiles, environment, kubeconfig } = options;
  if (files.length === 0) {
    return { settings: kubeconfig ? await loadKubeconfigs(kubeconfig) : {}, locate: () => undefined };
  }
  const documents = (await Promise.all(files.map((file) => loadFile(file, profiles)))).flat();
  const settings = bindDocuments({ documents: documents.map(({ data }) => data), profiles, environment });
  const active = documents.filter(({ data }) => isActiveDocument(expandKeys(data), profiles));
  const locate = (path: string) => findLocation(active, path);
  refuseFiat(settings, { environment, locate });
  return { settings, locate };
}

/**
 * Settings with one account for each context of a kubeconfig, named like the context.
 *
 * @param path the kubeconfig's file, which the accounts will name.
 * @throws InvalidInputError when the text is no kubeconfig. It never quotes the text.
 */
export function accountsFromKubeconfig(text: string, path: string): JsonObject {
  const [document] = parseSettingsDocuments(text, path);
  if (!Array.isArray(document?.data.contexts)) {
    throw new InvalidInputError(`${path}: contexts: expected a list, as in a kubeconfig`);
  }
  const names = asJsonArray(document.data.contexts).map((context) => asString(asJsonObject(context)?.name));
  const accounts = [...new Set(names)]
    .filter((name) => name !== undefined && name !== '')
    .map((name) => ({ name: name as string, context: name as string, kubeconfigFile: path }));
  return { kubernetes: { enabled: true, accounts } };
}

/** The contexts of one or more kubeconfigs; files that do not exist are skipped as long as one does. */
async function loadKubeconfigs(kubeconfig: string): Promise<JsonObject> {
  const paths = kubeconfig.split(delimiter).filter((path) => path !== '');
  const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8').catch(ignoreMissing)));
  if (texts.every((text) => text === undefined))
    throw new InvalidInputError(`no kubeconfig at ${paths.join(', ')}`);
  const accounts = texts.flatMap((text, index) => {
    if (text === undefined) return [];
    return asJsonArray(
      getSetting(accountsFromKubeconfig(text, resolve(paths[index] ?? '')), 'kubernetes.accounts'),
    );
  });
  return { kubernetes: { enabled: true, accounts } };
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/** The settings in one file or directory. */
async function loadFile(path: string, profiles: readonly string[]): Promise<readonly SettingsDocument[]> {
  try {
    const isDirectory = (await stat(path)).isDirectory();
    return isDirectory ? await readDirectory(path, profiles) : await readSettings(path, profiles);
  } catch (error) {
    if (error instanceof InvalidInputError) throw error;
    throw new InvalidInputError(`${path}: cannot be read: ${getErrorMessage(error)}`, { cause: error });
  }
}

async function readDirectory(
  path: string,
  profiles: readonly string[],
): Promise<readonly SettingsDocument[]> {
  const ranked = (await readdir(path))
    .map((name) => ({ name, rank: getFileRank(name, profiles) ?? -1 }))
    .filter(({ rank }) => rank >= 0)
    .sort((one, other) => one.rank - other.rank);
  if (ranked.length === 0) {
    throw new InvalidInputError(`${path}: expected one of the files ${listFileNames(profiles).join(', ')}`);
  }
  return (await Promise.all(ranked.map(({ name }) => readSettings(join(path, name), profiles)))).flat();
}

/** The settings in one file. A file with Kubernetes objects must hold some; one with nothing at all may be empty. */
async function readSettings(file: string, profiles: readonly string[]): Promise<readonly SettingsDocument[]> {
  const documents = parseSettingsDocuments(await readFile(file, 'utf8'), file);
  const found = documents.flatMap((document) => unwrapDocument(document, profiles));
  if (documents.length > 0 && found.length === 0) {
    throw new InvalidInputError(
      `${file}: holds no settings: expected Spring's YAML, a halconfig, a SpinnakerService, or a ConfigMap or Secret ` +
        `with one of ${listFileNames(profiles).join(', ')}`,
    );
  }
  return found.toSorted((one, other) => (one.rank ?? 0) - (other.rank ?? 0));
}

/** Where the document whose word counts has the path, or else the nearest path above it. */
function findLocation(documents: readonly SettingsDocument[], path: string): string | undefined {
  const canonical = toCanonicalPath(path);
  const [list = ''] = canonical.split('[');
  const owner = documents.findLast(({ findLine }) => findLine(list) !== undefined);
  const candidates = canonical === list || !owner ? documents : [owner];
  for (let above = canonical; above !== ''; above = getParentPath(above)) {
    const document = candidates.findLast(({ findLine }) => findLine(above) !== undefined);
    if (document) return `${document.file}:${document.findLine(above)}`;
  }
  return undefined;
}

/** Refuses to run where users rely on Fiat: without it, everybody may do everything. */
function refuseFiat(
  settings: JsonObject,
  { environment, locate }: { environment: Environment; locate: LoadedSettings['locate'] },
): void {
  const path = 'services.fiat.enabled';
  const configured = getSetting(settings, path);
  const value = environment.SERVICES_FIAT_ENABLED ?? configured ?? false;
  if (value === '' || String(value).toLowerCase() === 'false') return;
  const place = environment.SERVICES_FIAT_ENABLED
    ? 'environment variable SERVICES_FIAT_ENABLED'
    : locate(path);
  throw new InvalidInputError(
    `${place ?? path}: ${path}: expected false: Busdriver cannot ask Fiat for authorization yet, ` +
      'so it would let everybody do everything',
  );
}
