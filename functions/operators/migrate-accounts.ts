import { migrateAccounts } from '../../shared/runtime/http/dynamic-accounts.ts';
import { operatorHandler } from '../../shared/runtime/http/operator-handler.ts';
import { openDynamicAccounts } from '../../shared/runtime/services/agent-accounts.ts';

/** POST /armory/accounts: has agents serve accounts that were reached from here so far. */
export const handler = operatorHandler(
  openDynamicAccounts,
  async function migrateStoredAccounts(request, services) {
    return migrateAccounts(request, services);
  },
);
