import { deleteDynamicAccounts } from '#agents/http/dynamic-accounts.ts';
import { operatorHandler } from '#agents/http/operator-handler.ts';
import { openDynamicAccounts } from '#agents/services/agent-accounts.ts';

/** DELETE /armory/accounts: deletes accounts that agents serve. */
export const handler = operatorHandler(openDynamicAccounts, deleteDynamicAccounts);
