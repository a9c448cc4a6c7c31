import { RefusedChangeError } from '../../core/errors.ts';
import { isAccountStorageEnabled } from '../../core/settings/account-storage.ts';
import type { AccountStore } from '../../core/settings/account-store.ts';
import type { SecretReader } from '../../core/settings/secret-reference.ts';
import type { EventBus } from '../../core/tasks/task-events.ts';
import { toOuterEnvironment } from '../config.ts';
import { openAccountStore } from './account-store.ts';
import { createAwsPorts } from './aws-ports.ts';
import { openBase } from './base.ts';
import { openLateBus } from './late-bus.ts';
import { openProviders, type ProviderServices } from './providers.ts';
import type { Services } from './services.ts';

/** What functions that manage accounts work with. */
export interface AccountServices extends ProviderServices {
  readonly accounts: AccountStore;
  readonly bus: EventBus;
  /** Tells who may use user secrets. */
  readonly secrets: Pick<SecretReader, 'readRoles'>;
}

/**
 * Opens what functions that manage accounts work with.
 *
 * @throws RefusedChangeError in Clouddriver's words where accounts are not stored; what `openProviders` throws
 */
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
    secrets: services.get(createRoleReader),
  };
}

function createRoleReader(services: Services): AccountServices['secrets'] {
  const { clock, config } = openBase(services);
  const environment = toOuterEnvironment(services.environment);
  return createAwsPorts(clock, undefined, { placement: config.placement, environment }).secrets;
}
