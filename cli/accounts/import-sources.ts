import { asJsonArray, asJsonObject, asString, getPath, type JsonObject } from '#core/json.ts';
import type { Environment } from '#platform/config.ts';
import { bindKeys, getSetting } from '#settings/spring-config.ts';
import type { ApiClient } from '../api-client.ts';
import { CliError } from '../cli-error.ts';
import { toLine } from '../terminal.ts';
import { readDefinitions } from './definition-pages.ts';
import { readKubeconfig } from './kubeconfig.ts';

/** An account to be imported. */
export interface ImportedAccount {
  readonly name: string;
  /** The definition to send for it. @throws CliError when there is none, such as for a kubeconfig that is not there */
  define(): Promise<JsonObject>;
}

/** The accounts to import. */
export interface ImportSource {
  readonly accounts: readonly ImportedAccount[];
  /** Where Busdriver takes them. */
  readonly path: '/credentials' | '/v1/kubernetes/providers';
  /** Things that are not imported, a sentence for each. */
  readonly warnings: readonly string[];
}

/** Files of Spinnaker's settings, and how they are read. */
export interface SettingsFiles {
  readonly file: string;
  /** Spring's profiles that are active. */
  readonly profiles: readonly string[];
  /** For placeholders. */
  readonly environment: Environment;
}

/** The providers of a go-clouddriver. @throws ApiError, CliError */
export async function readProviders(client: ApiClient): Promise<ImportSource> {
  const answer = await client.get('/v1/kubernetes/providers');
  if (!Array.isArray(answer)) {
    const next = 'look whether that is the URL of a go-clouddriver';
    throw new CliError(`${client.url}/v1/kubernetes/providers answers no list`, { next });
  }
  const providers = answer.map((provider) => asJsonObject(provider) ?? {});
  const withToken = providers.filter((provider) => provider['bearerToken']);
  return {
    path: '/v1/kubernetes/providers',
    accounts: providers.map((provider) => {
      // go-clouddriver stores that token and never uses it.
      const { bearerToken: _unused, ...kept } = provider;
      return { name: asString(kept['name']) ?? '', define: async () => kept };
    }),
    warnings: withToken.map(
      ({ name }) =>
        `${toLine(String(name))}: its bearerToken is left out, for go-clouddriver never used it either`,
    ),
  };
}

/** The Kubernetes accounts in the store of a Clouddriver. @throws ApiError, CliError */
export async function readStore(client: ApiClient): Promise<ImportSource> {
  const definitions = await readDefinitions(client, 'kubernetes');
  return {
    path: '/credentials',
    accounts: definitions.map((definition) => ({
      name: asString(definition['name']) ?? '',
      define: async () => ({ type: 'kubernetes', ...definition }),
    })),
    warnings: [],
  };
}

/**
 * The Kubernetes accounts of Spinnaker's settings, as Busdriver itself reads them: Halyard's, the Operator's, or Spring's.
 *
 * @throws InvalidInputError naming what cannot be read
 */
export async function readSettings({ file, profiles, environment }: SettingsFiles): Promise<ImportSource> {
  // It brings along all that knows settings, for which other commands need not wait.
  const { loadSettings } = await import('#settings/live/settings.ts');
  const { settings } = await loadSettings({ files: [file], profiles, environment });
  const entries = asJsonArray(getSetting(settings, 'kubernetes.accounts'));
  return {
    path: '/credentials',
    accounts: entries.map((entry, index) => {
      const account = bindKeys(asJsonObject(entry) ?? {}, readOptions);
      const name = asString(account['name']);
      return {
        name: name ?? `kubernetes.accounts[${index}]`,
        define: () => inlineKubeconfig({ type: 'kubernetes', ...account }),
      };
    }),
    warnings: listOtherAccounts(settings),
  };
}

/** Options that are looked at here: settings may spell them otherwise. */
const readOptions = ['name', 'kubeconfigFile', 'context', 'cluster', 'user'];

/** The definition with what its kubeconfig's file says in the place of the file: Busdriver reads no files for accounts of its store. */
async function inlineKubeconfig(definition: JsonObject): Promise<JsonObject> {
  const { kubeconfigFile, ...others } = definition;
  const file = asString(kubeconfigFile);
  if (!file || /^(encrypted(File)?:|secret:\/\/)/.test(file)) return definition;
  const choose = (option: string) => asString(definition[option]) || undefined;
  const choice = { context: choose('context'), cluster: choose('cluster'), user: choose('user') };
  return { ...others, kubeconfigContents: await readKubeconfig(file, choice) };
}

/** Providers with accounts that are none of Kubernetes. */
function listOtherAccounts(settings: JsonObject): readonly string[] {
  return Object.entries(settings)
    .filter(([section]) => section !== 'kubernetes')
    .map(([section, value]) => ({ section, count: asJsonArray(getPath(value, 'accounts')).length }))
    .filter(({ count }) => count > 0)
    .map(
      ({ section, count }) => `${section}.accounts: ${count} left out: only those of Kubernetes are stored`,
    );
}
