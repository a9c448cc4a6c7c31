import type { Authorizer } from '#access/authorizer.ts';
import type { Provider, ProviderOptions, ProviderPlugin } from '#provider-kit/provider.ts';
import { toPublicSettings } from './public-settings.ts';
import { type FiatSettings, knownSettings, parseFiatSettings, settingsPath } from './settings.ts';

/** Fiat, which tells what users may do, where `services.fiat.enabled` says so. */
export const fiatPlugin: ProviderPlugin = { name: 'fiat', knownSettings, open: openFiat, toPublicSettings };

/**
 * Opens what asks Fiat; a provider without any capability where Fiat is off.
 *
 * @throws InvalidInputError for wrong settings. They are not left out as those of an account are: without Fiat everybody would pass.
 */
function openFiat(options: ProviderOptions): Provider {
  const fiat = parseFiatSettings(options.settings);
  if (fiat === undefined) return { ...emptyProvider, async [Symbol.asyncDispose]() {} };
  if (fiat.wantsLegacyFallback) {
    options.log.warn(
      `${settingsPath}.legacyFallback is not obeyed: nobody passes whom Fiat does not let pass`,
      {
        instead: `${settingsPath}.allowStaleSeconds`,
      },
    );
  }
  return { ...emptyProvider, ...openLate(fiat, options) };
}

/** Loaded when it is first asked: all functions with accounts open the plug-in, and most installations have Fiat off. */
function openLate(
  settings: FiatSettings,
  options: ProviderOptions,
): { readonly authorizer: Authorizer } & AsyncDisposable {
  let opening: Promise<Authorizer & AsyncDisposable> | undefined;
  return {
    authorizer: {
      async getPermission(user, signal) {
        opening ??= import('./authorizer.ts').then(({ openAuthorizer }) => openAuthorizer(settings, options));
        return (await opening).getPermission(user, signal);
      },
    },
    async [Symbol.asyncDispose]() {
      await (await opening)?.[Symbol.asyncDispose]();
    },
  };
}

const emptyProvider = { name: fiatPlugin.name, accounts: [], rejectedAccounts: [] };
