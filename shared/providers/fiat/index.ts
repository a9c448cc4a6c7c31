import type { Provider, ProviderOptions, ProviderPlugin } from '../../core/provider.ts';
import { createAuthorizer } from './authorizer.ts';
import { createFiatClient } from './client.ts';
import { parseFiatSettings, settingsPath } from './settings.ts';

/** Fiat, which tells what users may do, where `services.fiat.enabled` says so. */
export const fiatPlugin: ProviderPlugin = { name: 'fiat', open: openFiat };

/**
 * Opens what asks Fiat; a provider without any capability where Fiat is off.
 *
 * @throws InvalidInputError for wrong settings. They are not left out as those of an account are: without Fiat everybody would pass.
 */
function openFiat({ settings, clock, randomness, log }: ProviderOptions): Provider {
  const fiat = parseFiatSettings(settings);
  if (fiat === undefined) return { ...emptyProvider, async [Symbol.asyncDispose]() {} };
  if (fiat.wantsLegacyFallback) {
    log.warn(`${settingsPath}.legacyFallback is not obeyed: nobody passes whom Fiat does not let pass`, {
      instead: `${settingsPath}.allowStaleSeconds`,
    });
  }
  const { baseUrl, totalMs, retryDelayMs } = fiat;
  const client = createFiatClient({ baseUrl, clock, randomness, limits: { totalMs, retryDelayMs } });
  return {
    ...emptyProvider,
    authorizer: createAuthorizer({ client, settings: fiat, clock, log }),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

const emptyProvider = { name: fiatPlugin.name, accounts: [], rejectedAccounts: [], operations: [] };
