import { migrateAccounts } from '#agents/http/dynamic-accounts.ts';
import { operatorHandler } from '#agents/http/operator-handler.ts';
import { openDynamicAccounts } from '#agents/services/agent-accounts.ts';

/** POST /armory/accounts: has agents serve accounts that were reached from here so far. */
export const handler = operatorHandler(openDynamicAccounts, migrateAccounts);
