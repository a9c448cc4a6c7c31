import { readdir, readFile, stat } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { getErrorMessage, InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { Environment } from '#platform/config.ts';
import { plugins } from '#providers/index.ts';
import { bindDocuments, expandKeys, isActiveDocument, toCanonicalPath } from '../spring-config.ts';
import { parseUpstreamSettings } from '../upstream-settings.ts';
import { applyFiatVariables, checkAuthorization } from './authorization-settings.ts';
import { getFileRank, listFileNames, unwrapDocument } from './settings-shapes.ts';
import { getParentPath, parseSettingsDocuments, type SettingsDocument } from './settings-yaml.ts';

/** Where the settings come from. */
export interface LoadSettingsOptions {
  /** YAML files, or directories that hold `spinnaker.yml`, `clouddriver.yml` and their profiles' files; later wins. */
  readonly files: readonly string[];
  /** Further settings, which override those of the files. Default: none. */
  readonly secret?: SettingsSecret | undefined;
  /** Spring profiles that are active. */
  readonly profiles: readonly string[];
  /** Environment variables, for placeholders. */
  readonly environment: Environment;
  /** A kubeconfig, or several joined as in `KUBECONFIG`. Its contexts are the accounts, but only without files and secret. */
  readonly kubeconfig?: string | undefined;
}

/** A secret that holds settings in any of the forms that a file may have. */
export interface SettingsSecret {
  /** Its name in messages. */
  readonly name: string;
  /** Reads its text. @throws Error that names the secret, says what to do, and never holds its text. */
  read(): Promise<string>;
}

/** Settings as text, not parsed yet. */
export interface SettingsText {
  /** Name of its origin in messages. */
  readonly file: string;
  readonly text: string;
  /** Whether it is a kubeconfig, whose contexts are the accounts. Else it is Spinnaker's configuration. */
  readonly isKubeconfig: boolean;
}

/** Settings, and where they were written. */
export interface LoadedSettings {
  /** The merged configuration, in the spelling of its files, placeholders filled in. */
  readonly settings: JsonObject;
  /** `file:line` of a setting by its dotted path, or of its parent; undefined where no file has it. */
  locate(path: string): string | undefined;
}

/**
 * Loads Spinnaker's own configuration, from Halyard, the Operator, Kustomize or written by hand; see `unwrapDocument` for the supported
 * forms. Without any file or secret, each context of the kubeconfig is an account.
 *
 * @throws what `readSettingsTexts` and `parseSettings` throw.
 */
export async function loadSettings(options: LoadSettingsOptions): Promise<LoadedSettings> {
  return parseSettings(await readSettingsTexts(options), options);
}

/** Reads the settings' texts; later ones win. @throws InvalidInputError naming what cannot be read; what the secret throws */
export async function readSettingsTexts(
  options: Omit<LoadSettingsOptions, 'environment'>,
): Promise<readonly SettingsText[]> {
  const { files, secret, profiles, kubeconfig } = options;
  if (files.length === 0 && secret === undefined) return kubeconfig ? await readKubeconfigs(kubeconfig) : [];
  const [texts, secretText] = await Promise.all([
    Promise.all(files.map((file) => readPath(file, profiles))),
    secret?.read(),
  ]);
  const last = secretText === undefined ? [] : [toSettingsText(secret?.name ?? '', secretText)];
  return [...texts.flat(), ...last];
}

/**
 * Makes one configuration from texts.
 *
 * @throws InvalidInputError naming file or secret, line, setting and what was expected, for unusable texts; it never quotes a text.
 *   AuthorizationSettingsError when they do not say how to identify callers and what these may do.
 */
export function parseSettings(
  texts: readonly SettingsText[],
  { profiles, environment }: Pick<LoadSettingsOptions, 'profiles' | 'environment'>,
): LoadedSettings {
  if (texts.some(({ isKubeconfig }) => isKubeconfig)) {
    return checkSettings({ settings: joinKubeconfigs(texts), locate: () => undefined }, environment);
  }
  const documents = texts.flatMap((text) => parseText(text, profiles));
  const settings = bindDocuments({ documents: documents.map(({ data }) => data), profiles, environment });
  const active = documents.filter(({ data }) => isActiveDocument(expandKeys(data), profiles));
  const locate = (path: string) => findLocation(active, path);
  return checkSettings({ settings, locate }, environment);
}

/** Checks them with the environment's settings of Fiat, which take precedence. */
function checkSettings({ settings, locate }: LoadedSettings, environment: Environment): LoadedSettings {
  const applied = applyFiatVariables(settings, environment);
  checkAuthorization(applied, { environment, locate });
  parseUpstreamSettings(applied);
  return { settings: applied, locate };
}

/** One or more kubeconfigs; missing files are skipped as long as one exists. */
async function readKubeconfigs(kubeconfig: string): Promise<readonly SettingsText[]> {
  const paths = kubeconfig.split(delimiter).filter((path) => path !== '');
  const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8').catch(ignoreMissing)));
  if (texts.every((text) => text === undefined))
    throw new InvalidInputError(`no kubeconfig at ${paths.join(', ')}`);
  return texts.flatMap((text, index) =>
    text === undefined ? [] : [{ file: resolve(paths[index] ?? ''), text, isKubeconfig: true }],
  );
}

/** The contexts of all kubeconfigs, as accounts of the provider for such files. */
function joinKubeconfigs(texts: readonly SettingsText[]): JsonObject {
  const files = texts.map(({ text, file: path }) => {
    const [document] = parseSettingsDocuments(text, path);
    return { path, data: document?.data ?? {} };
  });
  return plugins.find(({ localFiles }) => localFiles)?.localFiles?.toSettings(files) ?? {};
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/** The texts of one file or directory. */
async function readPath(path: string, profiles: readonly string[]): Promise<readonly SettingsText[]> {
  try {
    const isDirectory = (await stat(path)).isDirectory();
    const files = isDirectory ? await listDirectory(path, profiles) : [path];
    return await Promise.all(files.map(async (file) => toSettingsText(file, await readFile(file, 'utf8'))));
  } catch (error) {
    if (error instanceof InvalidInputError) throw error;
    throw new InvalidInputError(`${path}: cannot be read: ${getErrorMessage(error)}`, { cause: error });
  }
}

function toSettingsText(file: string, text: string): SettingsText {
  return { file, text, isKubeconfig: false };
}

/** Paths of the files to read in a directory, in Spring's order. */
async function listDirectory(path: string, profiles: readonly string[]): Promise<readonly string[]> {
  const ranked = (await readdir(path))
    .flatMap((name) => {
      const rank = getFileRank(name, profiles);
      return rank === undefined ? [] : [{ name, rank }];
    })
    .sort((one, other) => one.rank - other.rank);
  if (ranked.length === 0) {
    throw new InvalidInputError(`${path}: expected one of the files ${listFileNames(profiles).join(', ')}`);
  }
  return ranked.map(({ name }) => join(path, name));
}

/** The settings in one text. One with Kubernetes objects must hold some; one with nothing at all may be empty. */
function parseText({ file, text }: SettingsText, profiles: readonly string[]): readonly SettingsDocument[] {
  const documents = parseSettingsDocuments(text, file);
  const found = documents.flatMap((document) => unwrapDocument(document, profiles));
  if (documents.length > 0 && found.length === 0) {
    throw new InvalidInputError(
      `${file}: holds no settings: expected Spring's YAML, a halconfig, a SpinnakerService, or a ConfigMap or Secret ` +
        `with one of ${listFileNames(profiles).join(', ')}`,
    );
  }
  return found.toSorted((one, other) => (one.rank ?? 0) - (other.rank ?? 0));
}

/** Where the document that takes precedence has the path, or else the nearest path above it. */
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
