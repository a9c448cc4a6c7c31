import type { Authorizer } from '#access/authorizer.ts';
import type { Provider, ProviderContext, ProviderPlugin } from '#provider-kit/provider.ts';
import {
  type FiatSettings,
  knownSettings,
  parseFiatSettings,
  settingsPath,
  toPublicSettings,
} from './settings.ts';

/** Fiat, which decides what users may do, if `services.fiat.enabled` is set. */
export const fiatPlugin: ProviderPlugin = { name: 'fiat', knownSettings, open: openFiat, toPublicSettings };

/**
 * Opens the authorizer that asks Fiat; a provider without any capability if Fiat is off.
 *
 * @throws InvalidInputError for wrong settings. Unlike an account's, they are not ignored: without Fiat all users would be allowed.
 */
function openFiat(options: ProviderContext): Provider {
  const fiat = parseFiatSettings(options.settings);
  if (fiat === undefined) return { ...emptyProvider, async [Symbol.asyncDispose]() {} };
  if (fiat.wantsLegacyFallback) {
    const warning = `${settingsPath}.legacyFallback is not obeyed: nobody passes whom Fiat does not let pass`;
    options.log.warn(warning, { instead: `${settingsPath}.allowStaleSeconds` });
  }
  return { ...emptyProvider, ...openLate(fiat, options) };
}

/** Loaded on first use: all functions with accounts open the plug-in, and most installations have Fiat off. */
function openLate(
  settings: FiatSettings,
  options: ProviderContext,
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

const emptyProvider = { name: fiatPlugin.name, rejectedAccounts: [] };
