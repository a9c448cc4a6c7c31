import type { RejectedAccount } from '#accounts/model/account.ts';
import { InvalidInputError } from '#core/errors.ts';
import type { Provider, ProviderContext, ProviderPlugin } from '#provider-kit/provider.ts';
import { createCatalog } from './catalog.ts';
import { createFront50Client } from './client.ts';
import { createTemplateFetcher, templateBytesMax } from './pipeline-templates.ts';
import { knownSettings, parseBaseUrl, settingsPath, toPublicSettings } from './settings.ts';

/** Front50: the applications, projects and pipeline templates that users entered, if `services.front50.baseUrl` is set. */
export const front50Plugin: ProviderPlugin = {
  name: 'front50',
  knownSettings,
  open: openFront50,
  toPublicSettings,
};

/** Wrong settings disable the catalog, just as a wrong account is left out. */
function openFront50(options: ProviderContext): Provider {
  try {
    return openCatalog(options, parseBaseUrl(options.settings));
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return makeProvider([{ name: settingsPath, reason: error.message }]);
  }
}

function openCatalog({ clock, randomness, log }: ProviderContext, baseUrl: URL | undefined): Provider {
  if (baseUrl === undefined) return makeProvider([]);
  const client = createFront50Client({ baseUrl, clock, randomness });
  const limits = { bytesMax: templateBytesMax };
  const templates = createFront50Client({ baseUrl, clock, randomness, limits });
  return {
    ...makeProvider([]),
    catalog: createCatalog({ client, clock, randomness, log }),
    artifacts: createTemplateFetcher({ client: templates, listClient: client, clock, randomness, log }),
    async [Symbol.asyncDispose]() {
      await Promise.all([client[Symbol.asyncDispose](), templates[Symbol.asyncDispose]()]);
    },
  };
}

function makeProvider(rejectedAccounts: readonly RejectedAccount[]): Provider {
  return {
    name: front50Plugin.name,
    rejectedAccounts,
    async [Symbol.asyncDispose]() {},
  };
}
