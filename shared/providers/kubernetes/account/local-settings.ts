import { InvalidInputError } from '#core/errors.ts';
import { asJsonArray, asJsonObject, asString, type JsonObject, type JsonValue } from '#core/json.ts';
import type { LocalFile } from '#provider-kit/provider.ts';
import { bindKeys } from '#settings/spring-config.ts';

/** Kubeconfigs, in which Kubernetes' own tools keep clusters and users. */
export const localFiles = { toSettings: toLocalSettings, inline: inlineFiles };

/**
 * Settings with one account for each context of the kubeconfigs, named after the context. Accounts name the kubeconfig's file.
 *
 * @throws InvalidInputError for a file that is not a kubeconfig. It never quotes the file.
 */
function toLocalSettings(files: readonly LocalFile[]): JsonObject {
  return { kubernetes: { enabled: true, accounts: files.flatMap(listContexts) } };
}

function listContexts({ path, data }: LocalFile): JsonObject[] {
  if (!Array.isArray(data.contexts)) {
    throw new InvalidInputError(`${path}: contexts: expected a list, as in a kubeconfig`);
  }
  const names = asJsonArray(data.contexts).map((context) => asString(asJsonObject(context)?.name));
  return [...new Set(names)].flatMap((name) =>
    name === undefined || name === '' ? [] : [{ name, context: name, kubeconfigFile: path }],
  );
}

/**
 * Puts the text of files in place of the accounts' kubeconfig files.
 *
 * @param findFile returns the text of a file by its path; undefined for a file that did not come with the settings.
 */
function inlineFiles(settings: JsonObject, findFile: (path: string) => string | undefined): JsonObject {
  const kubernetes = asJsonObject(settings.kubernetes);
  if (!kubernetes || !Array.isArray(kubernetes.accounts)) return settings;
  const accounts = kubernetes.accounts.map((entry): JsonValue => {
    const account = bindKeys(asJsonObject(entry) ?? {}, ['kubeconfigFile']);
    const { kubeconfigFile, ...others } = account;
    const contents = findFile(asString(kubeconfigFile) ?? '');
    return contents === undefined ? entry : { ...others, kubeconfigContents: contents };
  });
  return { ...settings, kubernetes: { ...kubernetes, accounts } };
}
