import { CacheTable } from '#caching/aws/store/cache-table.ts';
import { openDocuments } from '#platform/services/aws-clients.ts';
import { type BaseServices, openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';
import { isAccountStorageEnabled } from '#settings/account-storage.ts';
import type { OpenedProviders } from '#settings/live/live-providers.ts';
import { DynamoAccountStore } from '../aws/account-store.ts';
import type { AccountStore } from '../model/account-store.ts';

/** The store of accounts created by an API. */
export function openAccountStore(services: Services): AccountStore {
  return services.get(createAccountStore);
}

function createAccountStore(services: Services): AccountStore {
  const { config, clock, randomness } = openBase(services);
  const documents = openDocuments(services, 'request');
  const table = new CacheTable({ documents, tableName: config.accountsTable, clock, randomness });
  return new DynamoAccountStore({ table, clock });
}

/** Completes changes of accounts whose writers died; does nothing where accounts are not stored. Never rejects because of the store. */
export async function completeAccountChanges(
  { all, config, log }: BaseServices,
  open: () => Promise<Pick<OpenedProviders, 'settings'>>,
): Promise<void> {
  const { settings } = await open();
  if (!isAccountStorageEnabled(settings, config.placement)) return;
  try {
    const completed = await openAccountStore(all).completeChanges();
    if (completed > 0) log.warn('changes of accounts were completed whose writers had died', { completed });
  } catch (error) {
    log.warn('changes of accounts cannot be completed', { error });
  }
}
