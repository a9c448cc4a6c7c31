import { deleteDynamicAccount } from '#agents/http/dynamic-accounts.ts';
import { operatorHandler } from '#agents/http/operator-handler.ts';
import { openDynamicAccounts } from '#agents/services/agent-accounts.ts';

/** DELETE /armory/accounts/{account}: deletes one of them. */
export const handler = operatorHandler(openDynamicAccounts, deleteDynamicAccount);
