import { Buffer } from 'node:buffer';
import { asJsonArray, asJsonObject, asString, getPath, type JsonObject } from '#core/json.ts';
import { plugins } from '#providers/index.ts';
import { joinPath, toCanonicalPath } from '../spring-config.ts';
import { parseSettingsDocuments, type SettingsDocument } from './settings-yaml.ts';

/**
 * The settings within a document, whatever tool it was written for: documents of Spring's own form, later ones winning. Recognized are
 * - Halyard's `~/.hal/config` (its current deployment) and a single deployment of it,
 * - the Operator's `SpinnakerService`: the deployment, then the profiles of `spinnaker` and `clouddriver`; files in
 *   `spec.spinnakerConfig.files` stand in for the kubeconfigs that accounts name,
 * - a `ConfigMap` or `Secret` with files like `clouddriver-local.yml` inside, and a `List` of objects.
 * Other Kubernetes objects hold no settings: the result is empty. Any other document is returned unchanged.
 *
 * @throws InvalidInputError when a file inside is no YAML map.
 */
export function unwrapDocument(
  document: SettingsDocument,
  profiles: readonly string[],
): readonly SettingsDocument[] {
  const { data } = document;
  if (Array.isArray(data.deploymentConfigurations)) return unwrapHalconfig(document);
  if (typeof data.apiVersion === 'string' && typeof data.kind === 'string')
    return unwrapObject(document, profiles);
  const isDeployment = asJsonObject(data.providers) && ('deploymentEnvironment' in data || 'version' in data);
  return isDeployment ? [translateDeployment(document)] : [document];
}

/**
 * The rank of a file name among Spring's files, higher wins: `spinnakerconfig.yml`, which configures Spring's configuration server, then
 * `spinnaker.yml`, `clouddriver.yml`, then the same two for each profile. Undefined for files that are not read.
 */
export function getFileRank(name: string, profiles: readonly string[]): number | undefined {
  if (/^spinnakerconfig\.ya?ml$/.test(name)) return -1;
  const [, service, profile] = /^(spinnaker|clouddriver)(?:-(.+))?\.ya?ml$/.exec(name) ?? [];
  if (service === undefined) return undefined;
  const place = profile === undefined ? 0 : profiles.indexOf(profile) + 1;
  if (profile !== undefined && place === 0) return undefined;
  return place * 2 + (service === 'clouddriver' ? 1 : 0);
}

/** Names of files that hold settings, in their order, for messages. */
export function listFileNames(profiles: readonly string[]): readonly string[] {
  return ['', ...profiles.map((profile) => `-${profile}`)].flatMap((suffix) => [
    `spinnaker${suffix}.yml`,
    `clouddriver${suffix}.yml`,
  ]);
}

function unwrapHalconfig(document: SettingsDocument): readonly SettingsDocument[] {
  const deployments = asJsonArray(document.data.deploymentConfigurations).map(asJsonObject);
  const name = document.data.currentDeployment;
  const current = name === undefined ? 0 : deployments.findIndex((deployment) => deployment?.name === name);
  const data = deployments[current];
  return data
    ? [translateDeployment(selectPart(document, `deploymentConfigurations[${current}]`, data))]
    : [];
}

function unwrapObject(document: SettingsDocument, profiles: readonly string[]): readonly SettingsDocument[] {
  switch (document.data.kind) {
    case 'SpinnakerService':
      return unwrapSpinnakerService(document);
    case 'ConfigMap':
    case 'Secret':
      return unwrapFiles(document, profiles);
    case 'List':
      return asJsonArray(document.data.items).flatMap((item, index) => {
        const data = asJsonObject(item);
        return data ? unwrapDocument(selectPart(document, `items[${index}]`, data), profiles) : [];
      });
    default:
      return [];
  }
}

/** A deployment in Halyard's form: providers are one level deeper, and authorization means Fiat. */
function translateDeployment({ file, data: deployment, findLine }: SettingsDocument): SettingsDocument {
  const authorization = getPath(deployment, 'security', 'authz', 'enabled');
  const data: JsonObject = { ...asJsonObject(deployment.providers) };
  if (deployment.artifacts !== undefined) data.artifacts = deployment.artifacts;
  if (authorization !== undefined) data.services = { fiat: { enabled: authorization } };
  return {
    file,
    data,
    findLine: (path) => {
      const [root = ''] = toCanonicalPath(path).split(/[.[]/);
      if (root === 'services') return findLine('security.authz.enabled');
      return findLine(root === 'artifacts' ? path : joinPath('providers', path));
    },
  };
}

function unwrapSpinnakerService(document: SettingsDocument): readonly SettingsDocument[] {
  const root = 'spec.spinnakerConfig';
  const config = asJsonObject(getPath(document.data, 'spec', 'spinnakerConfig')) ?? {};
  const deployment = selectPart(document, `${root}.config`, asJsonObject(config.config) ?? {});
  const profiles = ['spinnaker', 'clouddriver'].map((service) =>
    selectPart(
      document,
      `${root}.profiles.${service}`,
      asJsonObject(getPath(config.profiles, service)) ?? {},
    ),
  );
  const files = asJsonObject(config.files) ?? {};
  return [translateDeployment(deployment), ...profiles].map((part) => ({
    ...part,
    data: inlineFiles(part.data, files),
  }));
}

/** Puts the Operator's files in place of their paths. In names of files `__` means `/`. */
function inlineFiles(data: JsonObject, files: JsonObject): JsonObject {
  const findFile = (path: string) => asString(files[path]) ?? asString(files[path.replaceAll('/', '__')]);
  return plugins.reduce((inlined, plugin) => plugin.localFiles?.inline(inlined, findFile) ?? inlined, data);
}

/** The settings files inside a ConfigMap or Secret, ranked by their names. */
function unwrapFiles(document: SettingsDocument, profiles: readonly string[]): readonly SettingsDocument[] {
  const { data, stringData, kind } = document.data;
  const plain = asJsonObject(kind === 'Secret' ? stringData : data) ?? {};
  const encoded = asJsonObject(kind === 'Secret' ? data : document.data.binaryData) ?? {};
  const texts = [
    ...Object.entries(encoded).map(
      ([name, text]) => [name, Buffer.from(asString(text) ?? '', 'base64').toString()] as const,
    ),
    ...Object.entries(plain).map(([name, text]) => [name, asString(text) ?? ''] as const),
  ];
  return texts.flatMap(([name, text]) => {
    const rank = getFileRank(name, profiles);
    if (rank === undefined) return [];
    return parseSettingsDocuments(text, `${document.file} (${name})`).map((part) => ({ ...part, rank }));
  });
}

/** A part of a document as a document of its own. */
function selectPart(document: SettingsDocument, at: string, data: JsonObject): SettingsDocument {
  return { file: document.file, data, findLine: (path) => document.findLine(joinPath(at, path)) };
}
