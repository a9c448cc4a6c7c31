import { RefusedChangeError } from '#core/errors.ts';
import type { EventBus } from '#platform/ports/event-bus.ts';
import { openHostServices } from '#platform/services/host-services.ts';
import { openLateBus } from '#platform/services/late-bus.ts';
import type { Services } from '#platform/services/services.ts';
import { openProviders, type ProviderServices } from '#provider-kit/services/providers.ts';
import { isAccountStorageEnabled } from '#settings/account-storage.ts';
import type { SecretReader } from '#settings/secret-reference.ts';
import type { AccountStore } from '../model/account-store.ts';
import { openAccountStore } from '../services/account-store.ts';

/** What functions use that manage accounts. */
export interface AccountServices extends ProviderServices {
  readonly accounts: AccountStore;
  readonly bus: EventBus;
  /** Reads which roles may use a user secret. */
  readonly secrets: Pick<SecretReader, 'readRoles'>;
}

/** Opens what managing accounts needs. @throws RefusedChangeError where accounts are not stored; what `openProviders` throws */
export async function openAccounts(services: Services): Promise<AccountServices> {
  const providers = await openProviders(services);
  if (!isAccountStorageEnabled(providers.settings, providers.config.placement)) {
    throw new RefusedChangeError(
      'Cannot use AccountDefinitionService endpoints without enabling AccountDefinitionService bean',
    );
  }
  return {
    ...providers,
    accounts: openAccountStore(services),
    bus: openLateBus(services),
    secrets: openHostServices(services).secrets,
  };
}
